// What the overview looks at besides the graphs.
import type { Now } from "../../logic/history";
import { ddb, rest } from "../../server";
import { allTables } from "../../tables";

export interface ServerNow {
  version: string;
  uptimeSeconds: number;
  tables: number;
  items: number;
  itemBytes: number;
  indexMemory: number;
  cacheHits: number;
  cacheMisses: number;
  commits: number;
  writes: number;
  disk: number;
  refusingWrites: boolean;
  lines: number;
}

interface Setting {
  name: string;
  value: unknown;
}

const RECENT_MS = 5 * 60000;
const TABLES_MAX = 200; // past these the state of indexes is left to the page of tables

/** A part that cannot be had is no reason to show nothing. */
async function orElse<T>(promise: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await promise;
  } catch {
    return otherwise;
  }
}

const UNITS: Record<string, number> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/** "512MB", "2 GB", 1048576. */
export function bytesOf(value: unknown): number {
  const found = /^([\d.]+)\s*([KMGT]?)i?B?$/i.exec(String(value ?? "").trim());
  return found ? Number(found[1]) * (UNITS[found[2].toUpperCase()] ?? 1) : 0;
}

export async function nowOf(): Promise<Now> {
  const [server, slow, settings, exports, imports] = await Promise.all([
    rest<ServerNow>("GET", "/server"),
    orElse(rest<{ requests: { at: string }[] }>("GET", "/slow?limit=100"), { requests: [] }),
    orElse(rest<{ settings: Setting[] }>("GET", "/settings"), { settings: [] }),
    orElse(ddb<{ ExportSummaries?: { ExportStatus: string }[] }>("ListExports", {}), {}),
    orElse(ddb<{ ImportSummaryList?: { ImportStatus: string }[] }>("ListImports", {}), {}),
  ]);
  const tables = server.tables <= TABLES_MAX ? await orElse(allTables(), []) : [];
  const limit = bytesOf(settings.settings.find(({ name }) => name.replace(/^--/, "") === "index-memory")?.value);
  return {
    refusingWrites: server.refusingWrites,
    slow: slow.requests.filter(({ at }) => Date.now() - Date.parse(at) < RECENT_MS).length,
    memory: limit > 0 ? [{ what: "Memory of indexes", used: server.indexMemory, limit }] : [],
    building: tables.flatMap(({ name, indexes }) => indexes.filter(({ backfilling }) => backfilling).map((index) => `${name}, index ${index.name}`)),
    jobsFailed:
      (exports.ExportSummaries ?? []).filter(({ ExportStatus }) => ExportStatus === "FAILED").length +
      (imports.ImportSummaryList ?? []).filter(({ ImportStatus }) => ImportStatus === "FAILED").length,
  };
}

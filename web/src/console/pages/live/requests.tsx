import { bytes } from "../../../shared/numbers";
import { FRONT_END_NAMES } from "../../logic/history";
import type { Column } from "../../parts/Grid";

/** A request as the slow log and the tail tell of it: never with values or secrets. */
export interface LoggedRequest {
  at: string;
  frontEnd: string;
  operation: string;
  subject?: string;
  status?: number; // of HTTP
  reason?: string; // why it was refused
  bytesIn?: number;
  bytesOut?: number;
  ms: number;
  who?: string;
}

function failed({ status, reason }: LoggedRequest): boolean {
  return reason !== undefined || (status ?? 0) >= 400;
}

function clock(at: string): string {
  return at.slice(11, 23);
}

export const requestColumns: Column<LoggedRequest>[] = [
  { title: "At", mono: true, show: ({ at }) => <time dateTime={at}>{clock(at)}</time> },
  { title: "Front end", show: ({ frontEnd }) => FRONT_END_NAMES[frontEnd] ?? frontEnd },
  { title: "Operation", show: ({ operation }) => <b>{operation}</b> },
  { title: "Of", mono: true, show: ({ subject }) => subject ?? "" },
  { title: "Took", number: true, show: ({ ms }) => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms` },
  { title: "Answer", show: (request) => <span class={`pill ${failed(request) ? "bad" : "good"}`}>{request.reason ?? request.status ?? "ok"}</span> },
  { title: "In", number: true, show: ({ bytesIn }) => bytes(bytesIn ?? 0) },
  { title: "Out", number: true, show: ({ bytesOut }) => bytes(bytesOut ?? 0) },
  { title: "Who", show: ({ who }) => who ?? "" },
];

export function requestId(request: LoggedRequest, at = 0): string {
  return `${request.at} ${request.frontEnd} ${request.operation} ${request.subject ?? ""} ${request.ms} ${at}`;
}

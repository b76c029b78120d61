// The console's pages; each is loaded when it is first opened.
import type { ComponentType } from "preact";

export interface PageProps {
  id: string; // what follows the page's name in the address
}

export interface ConsolePage {
  name: string; // in the address
  title: string;
  icon: string; // an SVG path of 24 by 24
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

export const PAGES: ConsolePage[] = [
  {
    name: "",
    title: "Overview",
    icon: "M3 12h4l3-8 4 16 3-8h4",
    load: () => import("./pages/overview/OverviewPage"),
  },
  {
    name: "tables",
    title: "Tables",
    icon: "M3 5h18v14H3zM3 10h18M9 10v9",
    load: () => import("./pages/tables/TablesPage"),
  },
  {
    name: "items",
    title: "Items",
    icon: "M4 6h16M4 12h16M4 18h10",
    load: () => import("./pages/items/ItemsPage"),
  },
  {
    name: "design",
    title: "Design",
    icon: "M4 4h6v6H4zM14 14h6v6h-6zM10 7h5v7",
    load: () => import("./pages/design/DesignPage"),
  },
  {
    name: "boards",
    title: "Boards and seasons",
    icon: "M4 20V12h5v8M9.500 20V5h5v15M15 20v-6h5v6M3 20h18",
    load: () => import("./pages/boards/BoardsPage"),
  },
  {
    name: "players",
    title: "Players",
    icon: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 20c1-4 4-6 8-6s7 2 8 6",
    load: () => import("./pages/players/PlayersPage"),
  },
  {
    name: "rooms",
    title: "Rooms",
    icon: "M4 20V6l8-3 8 3v14M9 20v-7h6v7M3 20h18",
    load: () => import("./pages/rooms/RoomsPage"),
  },
  {
    name: "live",
    title: "Live",
    icon: "M12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7 7a7 7 0 0 0 0 10M17 7a7 7 0 0 1 0 10M4 4a11 11 0 0 0 0 16M20 4a11 11 0 0 1 0 16",
    load: () => import("./pages/live/LivePage"),
  },
  {
    name: "copies",
    title: "Copies and keys",
    icon: "M8 8h12v12H8zM4 16V4h12M14 12v4M12 14h4",
    load: () => import("./pages/copies/CopiesPage"),
  },
];

export function pageOf(name: string): ConsolePage {
  return PAGES.find((page) => page.name === name) ?? PAGES[0];
}

export function addressOf(page: string, id = ""): string {
  return `/console${page ? `/${page}` : ""}${id ? `/${encodeURIComponent(id)}` : ""}`;
}

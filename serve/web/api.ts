// What the server tells; docs/serve.md describes it.

export interface Found {
  folder: string;
  results: { path: string; report: boolean }[];
  recordings: { path: string; bytes: number }[];
  notes: string[];
}

export interface ResultRows {
  columns: string[];
  rows: string[][];
}

export interface Task {
  pid: number;
  comm: string;
  ran: number;
  waited: number;
}

export interface RecordingInfo {
  start: string; // ns, as text: it may exceed what a number holds exactly
  span: number;
  events: number;
  wakes: number;
  cpus: number;
  tasks: Task[];
  notes: string[] | null;
  buckets: number;
}

export interface Moment {
  found: boolean;
  time: number;
  cpu: number;
  task: number;
  waker: number;
  origin: number;
}

type Query = Record<string, string | number>;

export function address(name: string, query: Query = {}): string {
  const text = new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)])).toString();
  return text ? `${name}?${text}` : name;
}

/** problem reads the error that a refused request carries. */
async function problem(response: Response): Promise<Error> {
  try {
    const told = (await response.json()) as { error?: string };
    return new Error(told.error ?? response.statusText);
  } catch {
    return new Error(`${response.status} ${response.statusText}`);
  }
}

async function get(url: string, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Error("schedlab serve does not answer; is it still running?");
  }
  if (!response.ok) throw await problem(response);
  return response;
}

export async function ask<T>(name: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await get(address("/api/" + name, query), signal)).json() as Promise<T>;
}

export async function bytes(name: string, query: Query, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await get(address("/api/" + name, query), signal)).arrayBuffer();
}

/** openRecording waits until the server has read a recording, and says how far it is. */
export async function openRecording(path: string, progress: (text: string) => void, signal: AbortSignal): Promise<RecordingInfo> {
  for (;;) {
    const told = await ask<RecordingInfo & { loading?: boolean; percent: number }>("recording", { path }, signal);
    if (!told.loading) return told;
    progress(`reading ${path}: ${told.events.toLocaleString("en")} events, ${told.percent} %`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

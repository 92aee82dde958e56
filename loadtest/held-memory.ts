import { once } from 'node:events'
import type { MeasuredProcess } from './measured-process.ts'
import { seriesOf } from './series.ts'

/** Node options that open an inspector on a free loopback port, through which garbage is collected and memory read. */
export const INSPECTED = ['--inspect=127.0.0.1:0'] as const

const LISTENING = /^Debugger listening on (ws:\S+)/
const MIB = 2 ** 20
const SAYS = /^(?:Debugger |For help, see)/

/** Memory of a process after a garbage collection, in bytes. Growth here is a leak, not garbage. */
export interface HeldMemory {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
}

/** Lines that a process wrote to standard error, without those of its inspector. */
export const saidByItself = ({ stderr }: MeasuredProcess): string[] =>
  stderr.filter((line) => !SAYS.test(line))

/** Returns the inspector's URL of a process started with INSPECTED. Call it right after the start. */
export function inspectorOf({ stderr }: MeasuredProcess): string {
  const url = stderr.map((line) => LISTENING.exec(line)?.[1]).find((url) => url !== undefined)
  if (url === undefined) throw new Error('the process has no inspector')
  return url
}

/**
 * Collects a process's garbage and returns the memory that is left, in bytes. The process pauses for some tenths of a
 * second.
 */
export async function heldMemory(inspector: string): Promise<HeldMemory> {
  const socket = new WebSocket(inspector)
  try {
    await once(socket, 'open')
    // The second collection releases memory that the first one only made unreachable.
    for (let i = 0; i < 2; i++) await call(socket, 'HeapProfiler.collectGarbage', {})
    const expression = 'JSON.stringify(process.memoryUsage())'
    const { result } = await call(socket, 'Runtime.evaluate', { expression })
    return JSON.parse(result!.value) as HeldMemory
  } finally {
    socket.close()
  }
}

/** Summarizes the samples that were taken after a collection, in MiB. */
export function heldSeries(
  samples: readonly { readonly second: number; readonly held: HeldMemory | null }[]
) {
  const series = (of: (held: HeldMemory) => number) =>
    seriesOf(
      samples.flatMap(({ second, held }) =>
        held === null ? [] : [{ hour: second / 3_600, value: of(held) / MIB }]
      )
    )
  return {
    resident: series(({ rss }) => rss),
    javascript_heap: series(({ heapUsed }) => heapUsed),
    external: series(({ external }) => external)
  }
}

interface Answer {
  readonly result?: { readonly value: string }
}

/** Sends one inspector call and waits for its answer; calls must not overlap. */
async function call(socket: WebSocket, method: string, params: object): Promise<Answer> {
  const answered = once(socket, 'message') as Promise<[MessageEvent]>
  socket.send(JSON.stringify({ id: 1, method, params }))
  const [message] = await answered
  const { result, error } = JSON.parse(message.data as string) as {
    result?: Answer
    error?: { message: string }
  }
  if (result === undefined) throw new Error(`${method}: ${error?.message}`)
  return result
}

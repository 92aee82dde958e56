import { once } from 'node:events'
import type { MeasuredProcess } from './measured-process.ts'
import { seriesOf } from './series.ts'

/** Lets a process be asked what it holds; on a free port of loopback. */
export const INSPECTED = ['--inspect=127.0.0.1:0'] as const

const LISTENING = /^Debugger listening on (ws:\S+)/
const MIB = 2 ** 20
const SAYS = /^(?:Debugger |For help, see)/

/** What a process holds after its garbage is collected: what grows here grows for good. */
export interface HeldMemory {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
}

/** What a process has said on standard error, without what its inspector says. */
export const saidByItself = ({ stderr }: MeasuredProcess): string[] =>
  stderr.filter((line) => !SAYS.test(line))

/** Where the inspector of a process that was started with INSPECTED listens; asked for at its start. */
export function inspectorOf({ stderr }: MeasuredProcess): string {
  const url = stderr.map((line) => LISTENING.exec(line)?.[1]).find((url) => url !== undefined)
  if (url === undefined) throw new Error('the process has no inspector')
  return url
}

/** Collects the garbage of a process, which stands still for some tenths of a second, and looks what is left, in bytes. */
export async function heldMemory(inspector: string): Promise<HeldMemory> {
  const socket = new WebSocket(inspector)
  try {
    await once(socket, 'open')
    // What one collection frees the next one gives back.
    for (let i = 0; i < 2; i++) await call(socket, 'HeapProfiler.collectGarbage', {})
    const expression = 'JSON.stringify(process.memoryUsage())'
    const { result } = await call(socket, 'Runtime.evaluate', { expression })
    return JSON.parse(result!.value) as HeldMemory
  } finally {
    socket.close()
  }
}

/** How what was held went on, of the samples that came with a collection; in MiB. */
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

/** One call at a time. */
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

import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { ROOT } from '../house/sources.ts'
import type { TurnWork } from '../http/loop-work.ts'

/** Reads the calls that a started service counts in each turn of its event loop (`loop-work-reporter.ts`). */
export interface WorkReader {
  /** Environment of a service that counts its calls. */
  readonly environment: Readonly<Record<string, string>>
  /** Runs work, and returns the service's turn with the most calls meanwhile. */
  readonly during: (work: () => Promise<void>) => Promise<TurnWork>
}

/** Opens a reader for one service. */
export async function openWorkReader(t: Test): Promise<WorkReader> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const reported = (async () => {
    const [socket] = (await once(server, 'connection')) as [Socket]
    t.teardown(() => socket.destroy())
    return { socket, lines: createInterface(socket)[Symbol.asyncIterator]() }
  })()
  const next = async (message: string): Promise<unknown> => {
    const { socket, lines } = await reported
    socket.write(`${message}\n`)
    const { value } = (await lines.next()) as { readonly value: string | undefined }
    if (value === undefined) throw new Error('the service has ended')
    return JSON.parse(value)
  }
  return {
    environment: {
      NODE_OPTIONS: `--import ${join(ROOT, 'test/http/loop-work-reporter.ts')}`,
      LOOP_WORK_PORT: String((server.address() as AddressInfo).port)
    },
    async during(work) {
      await next('begin')
      await work()
      return (await next('end')) as TurnWork
    }
  }
}

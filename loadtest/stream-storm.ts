/**
 * Measures a reconnect storm: thousands of subscriptions of the real client lose the service at once and resume on the
 * service that is restarted on its store and port. The service is killed and drained alternately. Clients use their own
 * backoff and resume after their last cursor. The service runs as a user starts it, on a localnet whose blocks continue. The
 * events of each subscription, over all storms, are compared with the other subscriptions and with a replay.
 *
 *     node loadtest/stream-storm.ts [subscriptions] [rounds of both] [milliseconds a slot] [directory]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../test/servers/free-port.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { Memory } from './memory.ts'
import { writeResult } from './result.ts'
import type { StormOrder, StormReport } from './stream/storm-clients.ts'
import { makeBusyLocalnet } from '../test/service/localnet-process.ts'

const [sizeText = '5000', roundsText = '2', slotMsText = '400', directory = tmpdir()] = process.argv.slice(2)
const ENDS = { killed: 'SIGKILL', drained: 'SIGTERM' } as const
const KEY = 'an-admin-key-of-the-loadtest'
/** Slots before the first subscription, so that there are traded tokens; and pause between storms, in milliseconds. */
const FIRST_SLOTS = 30
const QUIET_MS = 5_000
const LATE_MS = 300_000

const scratch = mkdtempSync(join(directory, 'stream-storm-'))
await makeBusyLocalnet(scratch)
const port = String(await freePort(['127.0.0.1']))
const start = (slotMs: string): Promise<MeasuredProcess> =>
  startMeasured(
    '../src/kernel/cli/millrace.js',
    ['serve', '--data-dir', scratch, '--port', port, '--localnet-slot-ms', slotMs],
    { env: { MILLRACE_ADMIN_KEY: KEY, MILLRACE_LOG_LEVEL: 'warn' } }
  )

let service = await start(slotMsText)
try {
  while ((await headSlot()) < FIRST_SLOTS) await pause(200)
  const clients = fork(join(import.meta.dirname, 'stream/storm-clients.ts'), [service.url, KEY, sizeText], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  const ended = new AbortController()
  clients.once('exit', (code) => ended.abort(new Error(`the clients ended with ${String(code)}`)))
  const report = async (): Promise<StormReport> => {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(LATE_MS)])
    return ((await once(clients, 'message', { signal })) as [StormReport])[0]
  }
  const order = (kind: StormOrder): void => void clients.send(kind)

  await report()
  const opened = service.rssMib()
  const storms: Record<string, object[]> = { killed: [], drained: [] }
  let refused = 0
  for (let n = 0; n < 2 * Number(roundsText); n++) {
    const how = n % 2 === 0 ? 'killed' : 'drained'
    await pause(QUIET_MS)
    const before = service.rssMib()
    order('storm')
    const began = performance.now()
    await service.end(ENDS[how])
    const endMs = performance.now() - began
    service = await start(slotMsText)
    order('up')
    const downMs = performance.now() - began
    const memory = new Memory(service)
    const { storm } = await report()
    await pause(QUIET_MS)
    const { start: rssStart, peak } = memory.end()
    refused += Object.values(storm!.refusedAfter).reduce((sum, count) => sum + count, 0)
    storms[how]!.push({
      ...storm,
      endMs,
      downMs,
      rss_mib: { before, start: rssStart, peak },
      warnings: service.stderr.slice(-5)
    })
    console.error(how, JSON.stringify(storms[how]!.at(-1)))
  }
  order('end')
  const judged = (await report()).judged!
  clients.disconnect()
  const exitCode = await service.end()
  const reached = refused === 0 && judged.faults === 0
  await writeResult('stream-storm', {
    subscriptions: Number(sizeText),
    slot_ms: Number(slotMsText),
    rss_mib_once_opened: opened,
    storms,
    refused_once_it_listened: refused,
    verified: judged,
    ended_with: exitCode,
    reached,
    verified_complete: judged.faults === 0
  })
  if (!reached) process.exitCode = 1
} finally {
  await service.end()
  rmSync(scratch, { recursive: true })
}

async function headSlot(): Promise<number> {
  const { slot } = (await (await fetch(`${service.url}/v1/health`)).json()) as { slot: number | null }
  return slot ?? -1
}

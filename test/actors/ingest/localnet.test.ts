import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { localnet } from '../../../actors/ingest/localnet.ts'
import { aborted } from '../../../actors/supervision/aborted.ts'
import type { Run } from '../../../actors/supervision/process.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../../actors/supervision/unit.ts'
import { systemPorts } from '../../../src/ports.ts'
import { ownDirectory } from '../../own-directory.ts'
import { until } from '../../until.ts'
import { nodeAt } from '../supervision/recorder.ts'

/** Milliseconds of a slot, and of a wait in which ten slots would pass. */
const [SLOT_MS, POLL_DELAY_MS] = [5, 50]

/** Starts the localnet of a service that does not listen yet. */
function startLocalnet(t: Test, listening: Promise<void>) {
  const empty = { blocks: { head: async () => null }, coverage: { genesis: async () => null } }
  const place = {
    directory: ownDirectory(t),
    host: '127.0.0.1',
    port: 0,
    slotMs: SLOT_MS,
    past: 'none'
  } as const
  const opened = Promise.withResolvers<void>()
  const logger = pino({ level: 'silent' })
  const deps = { ...systemPorts, logger, listening, onLocalnet: () => opened.resolve() }
  const storage: Run<unknown, typeof empty> = async ({ ready, draining }) => {
    ready(empty)
    await aborted(draining)
  }
  const chain = supervisor('chain', 'rest_for_one', [
    child('storage', storage),
    child('localnet', localnet(place, deps))
  ])
  const running = supervise(chain, systemPorts)
  return {
    running,
    opened: opened.promise,
    slot: () => nodeAt(running.tree(), 'localnet').gauges['slot'] ?? -1
  }
}

t.test('a localnet produces no block before the service listens, and then does', async (t) => {
  const listening = Promise.withResolvers<void>()
  const { running, opened, slot } = startLocalnet(t, listening.promise)
  await opened
  await delay(POLL_DELAY_MS)
  t.equal(slot(), 0)
  listening.resolve()
  await until(() => slot() > 3)
  t.match(await running.drain(), { kind: 'stopped' })
})

t.test('a localnet of a service that ends before it listens ends too', async (t) => {
  const { running, opened, slot } = startLocalnet(t, new Promise(() => undefined))
  await opened
  t.equal(slot(), 0)
  t.match(await running.drain(), { kind: 'stopped' })
})

/**
 * Measures the memory of idle connections, each with one subscribed channel: the service's resident memory above the one
 * before the first connection. Read twice: as it is, and after the garbage of opening the connections is collected.
 *
 *     node loadtest/stream-memory.ts [connections]
 */
import { setTimeout as pause } from 'node:timers/promises'
import { heldMemory, INSPECTED, inspectorOf } from './held-memory.ts'
import { writeResult } from './result.ts'
import { Receiving } from './stream/receiving.ts'
import { millrace } from './stream/sides.ts'
import { channelNamed, FIRST_SLOT, OFFSETS } from './stream/trades.ts'

const BAR_MIB = 250
const CHANNELS = 500
/** Milliseconds of idleness; longer than one interval of pings. */
const IDLE_MS = 30_000

const connections = Number(process.argv[2] ?? 10_000)
const server = await millrace(connections, { nodeArgs: INSPECTED })
const receiving = new Receiving()

async function held(): Promise<{
  readonly rss_mib: number
  readonly heap_mib: number
  readonly external_mib: number
}> {
  const { rss, heapUsed, external } = await heldMemory(inspectorOf(server))
  return { rss_mib: rss / 2 ** 20, heap_mib: heapUsed / 2 ** 20, external_mib: external / 2 ** 20 }
}

try {
  const collectedBefore = await held()
  const rssBefore = server.rssMib()
  const clients = Array.from({ length: connections }, (_, n) => ({
    path: server.path(n),
    channel: n % CHANNELS
  }))
  await receiving.connect(server.url, server.protocol, clients)
  await receiving.subscribe(clients.map(({ channel }) => channelNamed('trades', channel)))
  const rssOpened = server.rssMib()
  await pause(IDLE_MS)
  const rssIdle = server.rssMib()
  const collected = await held()
  // Checks that every connection is still open and receives the next commit.
  await receiving.run({ firstSlot: FIRST_SLOT, burst: 1, offset: OFFSETS.trades }, connections)
  const got = receiving.got()
  await server.prepare([{ slot: FIRST_SLOT, shape: { channels: CHANNELS, burst: 1 } }])
  server.commit()
  await got
  const above = Math.max(rssOpened, rssIdle) - rssBefore
  const each = (mib: number): number => (mib * 1024) / connections
  await writeResult('stream-memory', {
    connections,
    channels: CHANNELS,
    rss_mib: { before: rssBefore, opened: rssOpened, idle: rssIdle },
    above_mib: above,
    kib_a_connection: each(above),
    collected: {
      before: collectedBefore,
      idle: collected,
      kib_a_connection: {
        rss: each(collected.rss_mib - collectedBefore.rss_mib),
        heap: each(collected.heap_mib - collectedBefore.heap_mib),
        external: each(collected.external_mib - collectedBefore.external_mib)
      }
    },
    bar_mib: BAR_MIB,
    reached: above < BAR_MIB,
    verified_complete: true
  })
} finally {
  await receiving.end()
  await server.end()
}

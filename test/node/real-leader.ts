import { Registry } from 'prom-client'
import { setTimeout as delay } from 'node:timers/promises'
import { Keypair, Transaction } from '@solana/web3.js'
import type { Test } from 'tap'
import { leaders } from '../../actors/transactions/tpu/leaders.ts'
import { QuicThread } from '../../actors/transactions/tpu/quic-thread.ts'
import { systemPorts } from '../../src/ports.ts'
import { leaderMetrics } from '../../src/transactions/leader-metrics.ts'
import type { LeaderSender } from '../../src/transactions/ports.ts'
import { ephemeralIdentity } from '../../src/transactions/tpu/identity.ts'
import { RpcLeaderNode } from '../../src/transactions/tpu/leader-node.ts'
import type { RealValidator } from './real-validator.ts'
import { until } from '../until.ts'
import { payTo } from './web3-flows.ts'

const COUNT = 100
const LAND_WITHIN_MS = 120_000

/** Sends transfers to the validator's QUIC port alone, never by `sendTransaction`, and looks for them on its chain. */
export async function sendToRealLeader(t: Test, { connection, url }: RealValidator): Promise<void> {
  const payer = Keypair.generate()
  const airdrop = await connection.requestAirdrop(payer.publicKey, 10 ** 10)
  await connection.confirmTransaction(airdrop)
  const registry = new Registry()
  const metrics = leaderMetrics(registry)
  let opened = 0
  const drain = new AbortController()
  const gauges = new Map<string, () => number>()
  let sender: LeaderSender | null = null
  const logged: string[] = []
  const log = (line: unknown): void => void logged.push(String(line))
  const run = leaders(
    {
      openNode: () => new RpcLeaderNode([url], systemPorts.clock),
      identity: () => Promise.resolve(ephemeralIdentity()),
      startTransport: async (identity) => {
        const thread = await QuicThread.start(identity)
        const connect = thread.connect.bind(thread)
        return Object.assign(thread, {
          connect: (address: Parameters<typeof connect>[0]) => {
            opened++
            return connect(address)
          }
        })
      }
    },
    { ...systemPorts, logger: { info: log, warn: log } as never, metrics }
  )({
    input: {},
    draining: drain.signal,
    signal: drain.signal,
    ready: (given) => void (sender = given),
    gauge: (name, read) => void gauges.set(name, read),
    supervises: () => undefined,
    show: () => undefined,
    report: log
  })
  t.teardown(async () => {
    drain.abort()
    await run
  })

  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed')
  const to = Keypair.generate().publicKey
  const transfers = Array.from({ length: COUNT }, (_, index) => {
    const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight })
    transaction.add(payTo(payer, to, 1_000_000 + index)).sign(payer)
    return transaction.serialize()
  })
  // Nothing is written before the slot and the schedule are known, and a starved validator takes a stream too late. Unwritten
  // transactions are sent again, like tracked ones.
  const sent: number[] = []
  for (const wire of transfers) {
    const written = await until(async () => {
      const leaders = await sender!.send(wire)
      if (leaders === 0) await delay(100)
      return leaders > 0 && leaders
    }, 'it is written to a leader')
    sent.push(written)
    // A write that a starved validator takes too late leaves a connection that closes, beside the one that replaces it.
    if (sent.length === 1) t.ok(gauges.get('connections')!() >= 1, 'its connection is counted')
    await delay(10)
  }
  const startedMs = performance.now()
  let landed = -1
  const all = COUNT * 1_000_000 + (COUNT * (COUNT - 1)) / 2
  while (landed < all && performance.now() - startedMs < LAND_WITHIN_MS) {
    landed = await connection.getBalance(to, 'processed')
    await delay(100)
  }
  // A starved validator answers late, and is asked again.
  const wrong = logged.filter((line) => !/no answer within|returns the leader schedule now/.test(line))
  t.same(wrong, [], 'nothing is wrong')
  t.same(
    sent,
    Array.from({ length: COUNT }, () => 1),
    'each was written to one leader, the current and the next one'
  )
  t.equal(landed, all, 'each has landed, once')
  t.ok(opened > 1, `${opened} connections, of which one replaced another`)
  t.match(
    await registry.getSingleMetricAsString('millrace_leader_writes_total'),
    `{outcome="written"} ${COUNT}`,
    'those that were not written are not counted'
  )
}

import { Registry } from 'prom-client'
import t from 'tap'
import { TransactionSender } from '../../../actors/transactions/transaction-sender.ts'
import { ERRORS, ServiceError } from '../../../src/kernel/errors.ts'
import { transactionMetrics } from '../../../src/transactions/metrics.ts'
import type { SendTurn } from '../../../src/transactions/fair-queue.ts'
import { sampleSubmission, TrackingWorld } from './tracking-world.ts'

const { signal } = new AbortController()

t.test('each path gets the turn of a send, and a deferred send is no refusal', async (t) => {
  const turns: [string, SendTurn | undefined][] = []
  const answers: (boolean | Error)[] = []
  const sender = new TransactionSender({
    node: { send: async (_, __, turn) => void turns.push(['node', turn]) },
    leaders: {
      send: async (_, turn) => {
        turns.push(['leaders', turn])
        return 2
      }
    },
    engine: {
      send: async (_, __, { turn }) => {
        turns.push(['engine', turn])
        const answer = answers.shift()!
        if (answer instanceof Error) throw answer
        return answer
      }
    },
    metrics: transactionMetrics(new Registry())
  })
  const turn = { tenant: 'acme', rank: 'resend' } as const
  t.same(await sender.send(sampleSubmission({ signature: 'a' }), signal, turn), { leaders: 2 })
  const jito = sampleSubmission({ signature: 'b', route: 'jito' })
  answers.push(true, false, new ServiceError(ERRORS.UPSTREAM_ERROR, 'refused'))
  t.same(await sender.send(jito, signal, turn), { leaders: 0 })
  t.equal(await sender.send(jito, signal, turn), 'deferred')
  t.equal(await sender.send(jito, signal, turn), null)
  t.same(turns, [
    ['node', turn],
    ['leaders', turn],
    ['engine', turn],
    ['engine', turn],
    ['engine', turn]
  ])
})

t.test(
  'only the first send of a transaction goes before the repeats of others, also where it is refused',
  async (t) => {
    for (const isRefused of [false, true]) {
      const world = new TrackingWorld()
      const own = world.start()
      const turns: (SendTurn | undefined)[] = []
      const { node } = own
      const send = node.send.bind(node)
      node.isAway = isRefused
      Object.assign(node, {
        send: (wire: Uint8Array, _: AbortSignal, turn?: SendTurn) => {
          turns.push(turn)
          return send(wire)
        }
      })
      own.shard.begin(await world.submit('a'))
      await world.pass(4_100)
      t.match(turns, [
        { tenant: 'acme', rank: 'first' },
        { tenant: 'acme', rank: 'resend' },
        { tenant: 'acme', rank: 'resend' }
      ])
      own.kill()
    }
  }
)

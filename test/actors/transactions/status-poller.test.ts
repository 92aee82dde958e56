import t from 'tap'
import { StatusPoller } from '../../../actors/transactions/status-poller.ts'
import type { TrackedTransaction } from '../../../actors/transactions/tracked-transaction.ts'
import { virtualClock } from '../../virtual-time.ts'

/** A transaction that was received at a time, with the fields that the poller reads. */
function tracked(signature: string, receivedAtMs: number): TrackedTransaction {
  const context = { firstSentAtMs: null, slot: null }
  const value = { signature, receivedAtMs, nonceAccount: null }
  return {
    ...{ value, context, state: 'sent', isOver: false, askAtMs: 0, absentSlot: null, unusedNonceSlot: null },
    hadBlockhash: true,
    noteAnswer: () => undefined
  } as unknown as TrackedTransaction
}

t.test(
  'statuses are asked for 256 signatures at a time, each once, and again when they are due',
  async (t) => {
    const clock = virtualClock()
    const asked: { readonly signatures: readonly string[]; readonly history: boolean }[] = []
    const answered: string[] = []
    const poller = new StatusPoller({
      node: {
        statuses: async (signatures, { history }) => {
          asked.push({ signatures, history })
          return { contextSlot: 1, statuses: signatures.map(() => null) }
        }
      },
      clock
    })
    const fresh = Array.from({ length: 600 }, (_, at) => tracked(`fresh ${at}`, clock.now()))
    const old = Array.from({ length: 300 }, (_, at) => tracked(`old ${at}`, clock.now() - 61_000))
    const all = [...fresh, ...old]
    const { signal } = new AbortController()

    for await (const answers of poller.poll(all, false, signal))
      answered.push(...answers.map(({ transaction }) => transaction.value.signature))

    const sizes = (history: boolean): number[] =>
      asked
        .filter((each) => each.history === history)
        .map(({ signatures }) => signatures.length)
        .toSorted((a, b) => b - a)
    t.strictSame(sizes(false), [256, 256, 88])
    t.strictSame(sizes(true), [256, 44], 'the history is asked only for old ones')
    const names = all.map(({ value }) => value.signature)
    t.strictSame(answered.toSorted(), names.toSorted())

    t.ok((await poller.poll(all, false, signal).next()).done, 'none is due at once again')
    t.equal(asked.length, 5)
  }
)

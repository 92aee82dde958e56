import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { assertCalmly } from './calm-rounds.ts'

/** Returns the number of rounds, and the faults that were asserted; null if no assertion was made. */
async function roundsOf(
  ask: (nth: number) => Promise<unknown>,
  faultsOf: (round: number) => string[]
): Promise<[rounds: number, faults: unknown]> {
  let [rounds, asked] = [0, 0]
  let asserted: unknown
  const inner = { strictSame: (faults: unknown) => (asserted = faults), comment: () => undefined }
  const round = async (): Promise<string[]> => {
    await delay(20)
    return faultsOf(++rounds)
  }
  const report = (): void => void (asserted = null)
  await assertCalmly(inner as unknown as Test, 'no fault', [() => ask(++asked)], round, report)
  return [rounds, asserted]
}

const answers = async (): Promise<void> => undefined
const fails = (): Promise<never> => Promise.reject(new Error('no answer'))
const outage = (): string[] => ['an outage']

t.test(
  'a fault counts where healthy nodes answered, and else only shows that nothing is shown',
  async (t) => {
    t.same(await roundsOf(answers, () => []), [1, []])
    t.same(await roundsOf(answers, outage), [1, ['an outage']])
    t.same(await roundsOf(fails, () => []), [1, []], 'no fault is none in any round')
    t.same(await roundsOf(fails, (round) => (round < 3 ? outage() : [])), [3, []])
    t.same(await roundsOf(fails, outage), [3, null])
    const firstFails = (nth: number): Promise<unknown> => (nth === 1 ? fails() : answers())
    t.same(await roundsOf(firstFails, outage), [2, ['an outage']])
  }
)

import fc from 'fast-check'
import t from 'tap'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { LocalAccount } from '../../../src/localnet/chain.ts'
import { virtualClock } from '../../virtual-time.ts'
import { included, marketAccount } from './market-entries.ts'
import { randomRuns } from '../../random-runs.ts'

const ACCOUNTS = Array.from({ length: 5 }, (_, number) => marketAccount(number))
const PROGRAM = ACCOUNTS[0]!.owner
const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const
const options = { clock: virtualClock(), seed: 'history', finalizedAfter: 6 }

interface Plan {
  readonly fault: 'none' | 'skip' | 'drop' | 'replace'
  /** The lamports of accounts after the slot. */
  readonly changes: readonly (readonly [number: number, lamports: number])[]
}

type State = readonly (LocalAccount | null)[]
type States = Map<number, State>

const plans = fc.array(
  fc.record({
    fault: fc.constantFrom<Plan['fault'][]>('none', 'none', 'none', 'skip', 'drop', 'replace'),
    changes: fc.array(fc.tuple(fc.nat(ACCOUNTS.length - 1), fc.nat(3)), { maxLength: 4 })
  }),
  { minLength: 1, maxLength: 25 }
)

/** Records the states after each block, as reported by the bank; null for an account without lamports. */
function recordStates(bank: LocalBank, states: States): void {
  bank.listen((event) => {
    if (event.kind !== 'block' || event.commitment !== 'processed') return
    const { slot, parentSlot } = event.block
    const before = states.get(parentSlot)!
    const after = ACCOUNTS.map(({ address }, number) => {
      const changed = event.accounts.find((account) => Buffer.compare(account.address, address) === 0)
      if (changed === undefined) return before[number]!
      return changed.lamports === 0n ? null : changed
    })
    states.set(slot, after)
  })
}

async function live(bank: LocalBank, states: States, slots: readonly Plan[]): Promise<string[]> {
  const wrong = wrongReads(bank, states)
  let changes: Plan['changes'] = []
  bank.onSlot((slot, _, include) => {
    const accounts = changes.map(([number, lamports]) => ({
      ...ACCOUNTS[number]!,
      lamports: BigInt(lamports)
    }))
    include(included(slot), accounts)
  })
  for (const plan of slots) {
    changes = plan.changes
    if (plan.fault === 'skip') bank.faults.skip(1)
    else if (plan.fault !== 'none') bank.faults.fork(plan.fault)
    await bank.produceSlot()
    wrong.push(...wrongReads(bank, states))
  }
  return wrong
}

/** Compares every read with the state after the block of its commitment; returns the differences. */
function wrongReads(bank: LocalBank, states: States): string[] {
  return COMMITMENTS.flatMap((commitment) => {
    const slot = bank.slot(commitment)
    const expected = states.get(slot)!.map((account) => account?.lamports ?? null)
    const single = ACCOUNTS.map(({ address }) => bank.account(address, commitment)?.lamports ?? null)
    const all = bank.accountsOf(PROGRAM, commitment)
    const listed = ACCOUNTS.map(
      ({ address }) => all.find((each) => Buffer.compare(each.address, address) === 0)?.lamports ?? null
    )
    const text = (lamports: readonly (bigint | null)[]): string => lamports.join()
    return text(single) === text(expected) && text(listed) === text(expected)
      ? []
      : [`${commitment} at ${slot}: ${text(single)} and ${text(listed)}, not ${text(expected)}`]
  })
}

t.test(
  'accounts of a commitment are those after its block, whatever is skipped or forked since',
  async (t) => {
    let forks = 0
    await fc.assert(
      fc.asyncProperty(plans, async (slots) => {
        const bank = await LocalBank.open(options)
        const states: States = new Map([[0, ACCOUNTS.map(() => null)]])
        recordStates(bank, states)
        const wrong = await live(bank, states, slots)
        forks += bank.faults.fired.forks
        if (wrong.length > 0) throw new Error(wrong.join('\n'))
      }),
      randomRuns(100)
    )
    t.ok(forks > 20, `${forks} forks`)
  }
)

t.test('a restart finalizes the blocks on disk, so that accounts of a commitment stay exact', async (t) => {
  const directory = t.testdir()
  const states: States = new Map([[0, ACCOUNTS.map(() => null)]])
  const slots: Plan[] = Array.from({ length: 9 }, (_, at) => ({
    fault: 'none',
    changes: [[at % ACCOUNTS.length, at % 4]]
  }))
  for (const head of [9, 18, 27]) {
    const bank = await LocalBank.open({ ...options, directory })
    recordStates(bank, states)
    t.same(await live(bank, states, slots), [])
    t.same(
      COMMITMENTS.map((commitment) => bank.slot(commitment)),
      // One block lacks for confirmed, six for finalized.
      [head, head - 1, head - 6]
    )
    await bank.close()
  }
  const again = await LocalBank.open({ ...options, directory })
  t.same(
    COMMITMENTS.map((commitment) => again.slot(commitment)),
    [27, 27, 27]
  )
  t.same(wrongReads(again, states), [])
  await again.close()
})

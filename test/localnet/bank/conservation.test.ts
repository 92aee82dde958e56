import { ComputeBudgetProgram, SystemProgram } from '@solana/web3.js'
import type { Keypair, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import t from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { ExecutedTransaction, LocalAccount } from '../../../src/localnet/chain.ts'
import { randomRuns } from '../../random-runs.ts'
import { funded, openBank, signed, SOL, transfer, wallet } from './sending.ts'

const WALLETS = 6

/** One transaction of a random user: transfers of any size, sometimes more than is there, with or without a price. */
interface Plan {
  readonly payer: number
  readonly price: number | null
  readonly limit: number | null
  readonly moves: readonly { readonly from: number; readonly to: number; readonly lamports: bigint }[]
  readonly creates: boolean
}

const transactions: fc.Arbitrary<Plan> = fc.record({
  payer: fc.nat(WALLETS - 1),
  price: fc.option(fc.nat(5_000_000)),
  limit: fc.option(fc.integer({ min: 100, max: 2_000 })),
  moves: fc.array(
    fc.record({ from: fc.nat(WALLETS - 1), to: fc.nat(2 * WALLETS), lamports: fc.bigInt(0n, 2n * SOL) }),
    { minLength: 1, maxLength: 4 }
  ),
  creates: fc.boolean()
})
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), transaction: transactions }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('slot' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('drop' as const, 'replace' as const, 'skip' as const) })
    }
  ),
  { minLength: 20, maxLength: 60 }
)

t.test(
  'lamports only move, and what is missing is the fees of the blocks, through failures, skips and forks',
  async (t) => {
    let landedCount = 0
    let failedCount = 0
    let forks = 0
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const bank = await openBank()
        // Block events carry every change: the latest state of each account, and so of all lamports.
        const accounts = new Map<string, LocalAccount>()
        bank.listen((event) => {
          if (event.kind !== 'block' || event.commitment !== 'processed') return
          for (const account of event.accounts) accounts.set(encodeBase58(account.address), account)
        })
        const owners: Keypair[] = []
        for (let i = 0; i < WALLETS; i++) owners.push(await funded(bank, i + 1, 1n))
        const supply = (): bigint => accounts.values().reduce((sum, { lamports }) => sum + lamports, 0n)
        const initial = supply() + paid(bank)
        let serial = 0
        for (const step of taken) {
          if (step.kind === 'slot') await bank.produceSlot()
          else if (step.kind === 'skip') bank.faults.skip(1)
          else if (step.kind !== 'send') bank.faults.fork(step.kind)
          else sendRandom(bank, owners, step.transaction, serial++)
        }
        await bank.produceSlot()
        if (supply() + paid(bank) !== initial) return false
        for (const [text, { address, lamports }] of accounts) {
          const kept = bank.account(address)?.lamports ?? 0n
          if (kept !== lamports) throw new Error(`${text} has ${kept}, and ${lamports} was told`)
        }
        const landed = executed(bank)
        landedCount += landed.length
        failedCount += landed.filter(({ meta }) => meta.err !== null).length
        forks += bank.faults.fired.forks
        // For each transaction, the lamports that its accounts lost are its fee.
        return landed.every(({ meta }) => sum(meta.preBalances) - sum(meta.postBalances) === meta.fee)
      }),
      randomRuns(30)
    )
    t.ok(landedCount > 300, `${landedCount} landed`)
    t.ok(failedCount > 50, `${failedCount} of them failed`)
    t.ok(forks > 20, `${forks} forks`)
  }
)

function sendRandom(bank: LocalBank, owners: readonly Keypair[], plan: Plan, serial: number): void {
  const payer = owners[plan.payer]!
  const signers = new Set([payer, ...plan.moves.map(({ from }) => owners[from]!)])
  const instructions: TransactionInstruction[] = plan.moves.map(({ from, to, lamports }) =>
    transfer(owners[from]!, wallet(to + 1).publicKey, lamports)
  )
  if (plan.price !== null) {
    instructions.unshift(ComputeBudgetProgram.setComputeUnitPrice({ microLamports: plan.price }))
  }
  if (plan.limit !== null) {
    instructions.unshift(ComputeBudgetProgram.setComputeUnitLimit({ units: plan.limit }))
  }
  if (plan.creates) {
    const account = wallet(1_000 + serial)
    signers.add(account)
    instructions.push(
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: account.publicKey,
        lamports: 2_000_000,
        space: 100,
        programId: SystemProgram.programId
      })
    )
  }
  bank.send(signed(bank, instructions, [...signers]), { skipPreflight: true })
}

const sum = (balances: readonly bigint[]): bigint => balances.reduce((total, one) => total + one, 0n)

function executed(bank: LocalBank): ExecutedTransaction[] {
  return Array.from({ length: bank.slot('processed') + 1 }, (_, slot) =>
    bank.block(slot, 'processed')
  ).flatMap((answer) => (answer.kind === 'block' ? answer.block.transactions : []))
}

const paid = (bank: LocalBank): bigint => sum(executed(bank).map(({ meta }) => meta.fee))

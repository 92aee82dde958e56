import t from 'tap'
import { decodeSourced } from '../../../actors/ingest/decoding.ts'
import { TOKEN_PROGRAM_KEYS } from '../../../src/accounts/token-program.ts'
import { knownFeeAt, type TransferFeeConfig } from '../../../src/accounts/transfer-fee.ts'
import { FEE_PAUSE_MS, FEE_WAIT_MS, TransferFees } from '../../../src/accounts/transfer-fees.ts'
import { epochOf } from '../../../src/chain/epoch-schedule.ts'
import type { Trade } from '../../../src/chain/events.ts'
import { TOKEN_2022_PROGRAM } from '../../../src/chain/token-movement.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import { withheldOf } from '../../../src/chain/transfer-fee.ts'
import { seededRandom } from '../../../src/localnet/market/random.ts'
import { extended, mintData } from '../../accounts/account-data.ts'
import { FakeAccountNode } from '../../accounts/fake-account-node.ts'
import { buildTransaction, checkedTransfer, keyOf, type CallSpec } from '../../chain/build-transaction.ts'
import { virtualClock } from '../../virtual-time.ts'

const LIFINITY = '2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c'
const SWAP = Uint8Array.fromHex('f8c69e91e17587c8' + '00'.repeat(16))
const MINT = 'mint with a fee'
const SLOTS_PER_EPOCH = 20
const SCHEDULE = { slotsPerEpoch: SLOTS_PER_EPOCH, firstNormalEpoch: 0, firstNormalSlot: 0 }

/** Returns the mint's account with a configuration. */
function mintAccount({ older, newer, withheld }: TransferFeeConfig) {
  const value = new Uint8Array(108)
  const view = new DataView(value.buffer)
  view.setBigUint64(64, withheld, true)
  for (const [at, fee] of [
    [72, older],
    [90, newer]
  ] as const) {
    view.setBigUint64(at, fee.epoch, true)
    view.setBigUint64(at + 8, fee.maximum, true)
    view.setUint16(at + 16, fee.basisPoints, true)
  }
  const data = extended(mintData({ supply: 1n, decimals: 6 }), 'mint', [[1, value]])
  return { owner: TOKEN_PROGRAM_KEYS['token-2022'], data }
}

/** A bank with one pool of two tokens, one of which has a transfer fee that changes over the epochs. */
class FeeBank {
  readonly node = new FakeAccountNode()
  readonly #random = seededRandom('fees by epoch')
  readonly #tokens = new Map<string, bigint>()
  config: TransferFeeConfig

  constructor(epoch: bigint) {
    const first = { epoch, maximum: 5_000n, basisPoints: 100 }
    const none = { configAuthority: null, withdrawAuthority: null, withheld: 0n }
    this.config = { ...none, older: first, newer: first }
    this.node.epochSchedule = () => Promise.resolve(SCHEDULE)
    for (const [account, amount] of [
      ['user fee', 10n ** 12n],
      ['user plain', 10n ** 12n],
      ['vault fee', 10n ** 12n],
      ['vault plain', 10n ** 12n]
    ] as const)
      this.#tokens.set(account, amount)
  }

  /** Changes the fee, as the program does: it comes into force two epochs later. */
  setFee(epoch: bigint): void {
    const { newer, older } = this.config
    const next = { epoch: epoch + 2n, maximum: this.#upTo(20_000), basisPoints: Number(this.#upTo(900)) }
    this.config = { ...this.config, older: newer.epoch <= epoch ? newer : older, newer: next }
  }

  /** Makes the newest account known to the node. */
  publish(slot: number): void {
    this.node.slot = slot
    this.node.put(keyOf(MINT), mintAccount(this.config))
  }

  /** Returns a transaction of several swaps, with the amounts that the bank moved: gross in, net in, gross out, net out. */
  swaps(epoch: bigint, count: number): { transaction: Transaction; moved: bigint[][] } {
    const { older, newer } = this.config
    const fee = epoch >= newer.epoch ? newer : older
    const before = new Map(this.#tokens)
    const moved: bigint[][] = []
    const calls = Array.from({ length: count }, (): CallSpec => {
      const [paid, got] = this.#random.next() < 0.5 ? ['fee', 'plain'] : ['plain', 'fee']
      const [grossIn, grossOut] = [this.#upTo(1_000_000), this.#upTo(1_000_000)]
      const net = (token: string, amount: bigint) =>
        token === 'fee' ? amount - withheldOf(fee, amount) : amount
      const [netIn, netOut] = [net(paid, grossIn), net(got, grossOut)]
      this.#add(`user ${paid}`, -grossIn)
      this.#add(`vault ${paid}`, netIn)
      this.#add(`vault ${got}`, -grossOut)
      this.#add(`user ${got}`, netOut)
      moved.push([grossIn, netIn, grossOut, netOut])
      const move = (token: string, from: string, to: string, by: string, amount: bigint) =>
        checkedTransfer(
          `${from} ${token}`,
          token === 'fee' ? MINT : 'plain mint',
          `${to} ${token}`,
          by,
          amount,
          6,
          {
            program: TOKEN_2022_PROGRAM
          }
        )
      return {
        program: LIFINITY,
        accounts: [
          'authority',
          'amm',
          'user',
          `user ${paid}`,
          `user ${got}`,
          `vault ${paid}`,
          `vault ${got}`,
          'lp',
          'f'
        ],
        data: SWAP,
        inner: [
          move(paid, 'user', 'vault', 'user', grossIn),
          move(got, 'vault', 'user', 'authority', grossOut)
        ]
      }
    })
    const balances = [...this.#tokens].map(([account, after]) => ({
      account,
      mint: account.endsWith('fee') ? MINT : 'plain mint',
      owner: account.startsWith('user') ? 'user' : 'authority',
      decimals: 6,
      before: before.get(account)!,
      after
    }))
    return { transaction: buildTransaction({ signers: ['user'], calls, balances }), moved }
  }

  #add(account: string, amount: bigint): void {
    this.#tokens.set(account, this.#tokens.get(account)! + amount)
  }

  #upTo(limit: number): bigint {
    return 1n + BigInt(Math.floor(this.#random.next() * limit))
  }
}

const sourced = (slot: number, transactions: readonly Transaction[]) => ({
  block: { slot, blockTime: 1_800_000_000 + slot, parentSlot: slot - 1, transactions, votes: 0 },
  commitment: 'confirmed' as const,
  receivedAtMs: 0
})

const amountsOf = (entries: Awaited<ReturnType<typeof decodeSourced>>['entries']) =>
  entries.map(({ event }) => {
    const { traderIn, inAmount, outAmount, traderOut } = event as Trade
    return [traderIn, inAmount, outAmount, traderOut]
  })

t.test(
  'swaps that leave a transfer fee open are those of the bank, over 300 slots of changing fees',
  async (t) => {
    const clock = virtualClock()
    const bank = new FeeBank(1n)
    const fees = new TransferFees(clock)
    fees.connect(bank.node)
    const blocks: { slot: number; transaction: Transaction; moved: bigint[][] }[] = []
    let held = 0
    for (let slot = 20; slot < 320; slot++) {
      const epoch = epochOf(slot, SCHEDULE)
      // One change in each third epoch, and once two in successive epochs.
      if (slot % 60 === 7 || slot === 148) bank.setFee(epoch)
      bank.publish(slot)
      const { transaction, moved } = bank.swaps(epoch, 2 + (slot % 3))
      const alone = await decodeSourced(sourced(slot, [transaction]))
      if (alone.openFees.length > 0) held++
      const { entries, notes } = await decodeSourced(sourced(slot, [transaction]), fees)
      t.same(notes, [], `slot ${slot}`)
      t.same(amountsOf(entries), moved, `slot ${slot}`)
      blocks.push({ slot, transaction, moved })
    }
    t.ok(held > 200, `${held} blocks would have been held back`)
    t.ok(bank.node.asked.length < 20, `${bank.node.asked.length} reads: one for each second epoch at most`)

    // Another process reads the blocks again at the end; it still knows the fees that the configuration states.
    const later = new TransferFees(clock)
    later.connect(bank.node)
    let unknown = 0
    for (const { slot, transaction, moved } of blocks) {
      const { entries, notes } = await decodeSourced(sourced(slot, [transaction]), later)
      if (notes.length === 0) t.same(amountsOf(entries), moved, `slot ${slot} again`)
      else {
        t.ok(epochOf(slot, SCHEDULE) < bank.config.older.epoch)
        t.match(notes[0], { kind: 'missing', reason: 'transfer-fee-unknown' })
        unknown++
      }
    }
    t.ok(
      unknown > 0 && unknown < blocks.length,
      `${unknown} of ${blocks.length} blocks are before what it tells`
    )
  }
)

t.test('a fee that does not explain the balances gives no event', async (t) => {
  const bank = new FeeBank(1n)
  const { transaction } = bank.swaps(1n, 3)
  bank.config = { ...bank.config, newer: { ...bank.config.newer, basisPoints: 7 } }
  bank.config = { ...bank.config, older: bank.config.newer }
  bank.publish(25)
  const fees = new TransferFees(virtualClock())
  fees.connect(bank.node)
  const { notes } = await decodeSourced(sourced(25, [transaction]), fees)
  t.ok(notes.some((note) => note.kind === 'missing' && note.reason === 'transfer-fee-unknown'))
})

t.test('while the node is away a block waits for its time, and later blocks do not wait', async (t) => {
  const clock = virtualClock()
  const bank = new FeeBank(1n)
  bank.publish(25)
  const { transaction, moved } = bank.swaps(1n, 3)
  const fees = new TransferFees(clock)
  t.ok((await decodeSourced(sourced(25, [transaction]), fees)).openFees.length > 0, 'without a node')
  fees.connect(bank.node)
  bank.node.gate = new Promise(() => undefined)
  const waiting = decodeSourced(sourced(25, [transaction]), fees)
  while (bank.node.calls === 0) await new Promise((resolve) => setImmediate(resolve))
  clock.increment(FEE_WAIT_MS)
  t.ok((await waiting).openFees.length > 0)
  const { calls } = bank.node
  t.ok((await decodeSourced(sourced(26, [transaction]), fees)).openFees.length > 0)
  t.equal(bank.node.calls, calls, 'it is not asked again')
  bank.node.gate = Promise.resolve()
  clock.increment(FEE_PAUSE_MS)
  t.same(amountsOf((await decodeSourced(sourced(27, [transaction]), fees)).entries), moved)
  t.equal(fees.failed, 1)
})

t.test('a configuration tells the fees from its older epoch to the one after it was read', async (t) => {
  const fee = (epoch: bigint) => ({ epoch, maximum: 1n, basisPoints: 1 })
  const none = { configAuthority: null, withdrawAuthority: null, withheld: 0n }
  const config = { ...none, older: fee(10n), newer: fee(14n) }
  const told = (epoch: bigint, read: bigint) => knownFeeAt(config, epoch, read)?.epoch ?? null
  t.same(
    [9n, 10n, 13n, 14n, 15n, 16n].map((epoch) => told(epoch, 14n)),
    [null, 10n, 10n, 14n, 14n, null]
  )
  t.same(
    [told(14n, 12n), told(13n, 12n), told(14n, 13n), told(13n, 13n)],
    [null, 10n, null, 10n],
    'of a change to come'
  )
})

t.test('epochs double in length while a cluster warms up', async (t) => {
  const warming = { slotsPerEpoch: 432_000, firstNormalEpoch: 14, firstNormalSlot: 524_256 }
  const epochs = [0, 31, 32, 95, 96, 524_255, 524_256, 956_255, 956_256].map((slot) => epochOf(slot, warming))
  t.same(epochs, [0n, 0n, 1n, 1n, 2n, 13n, 14n, 14n, 15n])
  const plain = { slotsPerEpoch: 432_000, firstNormalEpoch: 0, firstNormalSlot: 0 }
  t.equal(epochOf(447_120_000, plain), 1_035n, 'as transactions of version 1 came')
})

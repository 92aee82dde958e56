import { join } from 'node:path'
import t from 'tap'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { LocalAccount } from '../../src/localnet/chain.ts'
import { IS_LONG } from '../random-runs.ts'
import { compareAccounts } from './oracle-accounts.ts'
import { runOracle } from './oracle-run.ts'

/** The environment runs more: 2,000 took 22 minutes on a machine with a load of 7 to 20. */
const SLOTS = Number(process.env['LOCALNET_SLOTS'] ?? (IS_LONG ? 1_000 : 100))
/** Movements of tokens, and states of accounts, that only a long run is sure to have. */
const IS_SURE = SLOTS >= 1_000
const RARE_MOVEMENTS = ['transfer', 'burn', 'close', 'thaw', 'wrap', 'unwrap', 'new owner', 'withdraw fees']
const RARE_STATES = ['frozen accounts', 'withheld fees']
const COMPARED = ['holders', 'sums of holder lists', 'holdings', 'token accounts', 'reserves of pools']

t.test(
  'holders, holdings, reserves and curves equal the accounts of the chain, through faults and kills',
  async (t) => {
    const missed: string[] = []
    const run = await runOracle({
      seed: 'granite',
      slots: SLOTS,
      dataDir: join(t.testdir(), 'data'),
      accountsEvery: IS_SURE ? 100 : 50,
      onProgress: (line) => void t.comment(line),
      inspect: async (service, chain) => {
        const { differences } = await compareAccounts(service, { ...chain, bank: withOneMore(chain.bank) })
        for (const what of COMPARED)
          if (!differences.some((line) => line.startsWith(`${what} at`))) missed.push(what)
      }
    })
    t.comment(JSON.stringify(run))
    t.strictSame(run.differences, [])
    t.strictSame(run.chainFaults, [])
    t.strictSame(missed, [], 'the comparison says where a chain has something else')
    const { holders = 0, holdings = 0, curves = 0, ...compared } = run.accounts
    t.ok(holders > 5 * SLOTS && holdings > SLOTS / 10 && curves > 0)
    for (const what of ['token accounts', 'reserves of pools', ...(IS_SURE ? RARE_STATES : [])])
      t.ok(compared[what]! > 0, what)
    for (const kind of ['mint', 'reopen', 'freeze', ...(IS_SURE ? RARE_MOVEMENTS : [])])
      t.ok(run.traffic[kind]! > 0, `${kind}: ${run.traffic[kind]}`)
    for (const fault of ['forks', 'skips', 'kills', 'errors']) t.ok(run.fired[fault]! > 0, fault)
  }
)

/** Returns a bank that says of each token account that it has one base unit more. */
function withOneMore(bank: LocalBank): LocalBank {
  const more = <Found extends LocalAccount | null>(account: Found): Found => {
    if (account === null || (account.data.length !== 165 && account.data[165] !== 2)) return account
    const data = Buffer.from(account.data)
    data.writeBigUInt64LE(data.readBigUInt64LE(64) + 1n, 64)
    return { ...account, data: new Uint8Array(data) }
  }
  return new Proxy(bank, {
    get(target, name) {
      if (name === 'account') return (address: Uint8Array) => more(target.account(address))
      if (name === 'accountsOf') return (program: Uint8Array) => target.accountsOf(program).map(more)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    }
  })
}

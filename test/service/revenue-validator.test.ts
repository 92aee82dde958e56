import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { PublicKey, type Connection } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { heldBalance } from '../../src/revenue/chain-balance.ts'
import { testWithValidator } from '../node/real-validator.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { ownDirectory } from '../own-directory.ts'
import { IS_LONG } from '../random-runs.ts'
import { until } from './asking.ts'
import { RealTokenTraffic } from './real-token-traffic.ts'
import { followEachOther, RevenueUser, type Row } from './revenue-user.ts'
import { runMillrace, startProcess, type ServiceProcess } from './service-process.ts'

const TRANSACTIONS = IS_LONG ? 800 : 300
const ADDRESSES = 40
const [WALLETS, SILENT] = [10, 4]
/** Kills while the history is read. */
const KILLS = 3
/** 50 ms a slot, if the machine keeps up. */
const TICKS_PER_SLOT = 8

testWithValidator(
  t,
  'the history of addresses of every kind equals a real chain to the lamport, closed accounts included',
  async (t, validator) => {
    const { connection, url } = validator
    t.teardown(() => closeConnection(connection))
    const traffic = await RealTokenTraffic.open(connection, WALLETS, SILENT)
    await traffic.run(TRANSACTIONS)
    t.comment(`${traffic.landed} transactions landed, ${traffic.accounts.length} token accounts`)

    const dataDir = join(ownDirectory(t), 'data')
    const flags = ['--source', 'rpc', '--rpc-url', url, '--rate-limit-per-minute', '1000000']
    const start = (): Promise<ServiceProcess> =>
      startProcess({ dataDir, recordedDir: null, more: [...flags, '--revenue-backfill-rps', '200'] })
    let service = await start()
    t.teardown(async () => {
      if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
      if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
    })
    const user = await RevenueUser.of(() => service.url, 'operator')
    const addresses = watchedOf(traffic)
    for (const address of addresses) await user.ask('POST', '/v1/revenue/accounts', { address, since: 0 })
    for (let kill = 0; kill < KILLS; kill++) {
      await delay(Math.random() * 3_000)
      await service.end('SIGKILL')
      service = await start()
    }
    // The chain goes on meanwhile.
    await traffic.run(40)
    const states = async (): Promise<readonly Record<string, unknown>[]> =>
      (await user.ask('GET', '/v1/revenue/coverage'))['addresses'] as readonly Record<string, unknown>[]
    await until(async () => (await states()).every(({ complete }) => complete === true), 'whole histories')
    for (const state of await states())
      t.match(state, { status: 'active', archive: { from: { slot: 0 } }, gaps: [], complete: true })

    const slot = await connection.getSlot('confirmed')
    await until(async () => (await user.ledger()).completeTo >= slot, 'the ledger has the last transaction')
    const rows = await user.rows()
    followEachOther(t, rows, [], 'since the first block')
    let [closed, used] = [0, 0]
    for (const address of addresses) {
      const own = rows.filter((row) => row.address === address)
      // Some accounts were never opened, because their transactions failed.
      if (own.length > 0) used++
      closed += await equalsChain(t, connection, address, own)
    }
    t.ok(used > ADDRESSES - 10, `${used} addresses with rows`)
    t.ok(closed > 5, `${closed} closed accounts`)
    t.ok(rows.filter(({ source }) => source === 'archive').length > TRANSACTIONS)

    const verified = await runMillrace(['verify', '--revenue', '--data-dir', dataDir, '--rpc-url', url])
    t.match(verified, { code: 0, stdout: '' })
    t.match(verified.stderr, new RegExp(`of ${ADDRESSES} ledgers compared, 0 differences`))
  },
  { ticksPerSlot: TICKS_PER_SLOT }
)

/** Returns the watched addresses: wallets, wallets that sign nothing, and token accounts. */
function watchedOf({ wallets, silent, accounts }: RealTokenTraffic): readonly string[] {
  const own = [...wallets.map(({ publicKey }) => publicKey), ...silent].map((key) => key.toBase58())
  return [...own, ...accounts.slice(0, ADDRESSES - own.length)]
}

/**
 * Checks that the rows of an address begin with nothing, and end with the balances of the chain. Returns the number of
 * accounts with rows that are closed by now.
 */
async function equalsChain(
  t: Test,
  connection: Connection,
  address: string,
  rows: readonly Row[]
): Promise<number> {
  const balances = Map.groupBy(rows, ({ account, mint, is_native }) => `${account} ${is_native} ${mint}`)
  let closed = 0
  for (const list of balances.values()) {
    const { account, mint, is_native: isNative, pre_raw } = list[0]!
    t.equal(pre_raw, '0', `${account} begins with nothing`)
    const info = await connection.getAccountInfo(new PublicKey(account), 'confirmed')
    if (info === null) closed++
    const { lamports, token } = heldBalance(
      info && { lamports: BigInt(info.lamports), owner: info.owner.toBytes(), data: info.data }
    )
    const isHeld = token?.mint === mint && (token.owner === address || account === address)
    const expected = isNative ? lamports : isHeld ? token.amount : 0n
    const sum = list.reduce((total, { delta_raw }) => total + BigInt(delta_raw), 0n)
    t.equal(sum, expected, `${account} of ${address}: the sum of all changes is its balance`)
  }
  return closed
}

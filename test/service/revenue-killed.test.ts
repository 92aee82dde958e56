import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@solana/web3.js'
import t from 'tap'
import type { TreeNode } from '../../actors/supervision/live-tree.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { ownDirectory } from '../own-directory.ts'
import { IS_LONG } from '../random-runs.ts'
import { until } from './asking.ts'
import { tradersOf } from './busiest-traders.ts'
import { ledgerSlotIn } from './ledger-slot.ts'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { StatedEnds } from './revenue-ends.ts'
import type { ServiceProcess } from './service-process.ts'
import { endAtBalances, followEachOther, RevenueUser, totalsEqual } from './revenue-user.ts'

const KILLS = IS_LONG ? 20 : 3
const FLAGS = ['--rate-limit-per-minute', '1000000', '--localnet-slot-ms', '150']
/** New rows before each kill. */
const ROWS = 15
/** Slots by which the ledger may be behind at a kill: 150 blocks are read again. */
const LAG_MAX = 50

/** Slots by which the ledger of a service is behind its index. */
async function lag({ get }: Pick<ServiceProcess, 'get'>): Promise<number> {
  const [tree, health] = [await get('/v1/admin/tree'), await get('/v1/health', null)]
  return Number(health.body['slot']) - ledgerSlotIn(tree.body as unknown as TreeNode)
}

/** Returns rows without symbols, which a restarted service knows once it has read the mints. */
const withoutSymbols = <Row extends object>(rows: readonly Row[]): object[] =>
  rows.map((row) => ({ ...row, symbol: undefined }))

t.test(
  'a service that is killed at any instant loses, repeats and breaks no row of its ledgers',
  async (t) => {
    const dataDir = ownDirectory(t)
    let service = await startBusyLocalnetProcess(t, dataDir, FLAGS)
    const user = await RevenueUser.of(() => service.url, 'operator')
    const traders = await tradersOf(service, 8)
    for (const address of traders) await user.watch(address)
    const ends = new StatedEnds()
    const polling = new AbortController()
    t.teardown(() => polling.abort())
    const polled = ends.follow([user], polling.signal)
    let known = await user.rows()
    for (let kill = 0; kill < KILLS; kill++) {
      const before = known.length
      await until(async () => (known = await user.rows()).length >= before + ROWS, `rows before kill ${kill}`)
      // On a starved machine the ledger may be behind by more blocks than are read again.
      await until(async () => (await lag(service)) < LAG_MAX, `the ledger follows before kill ${kill}`)
      // A random instant, also within a write.
      await sleep(Math.random() * 300)
      await service.end('SIGKILL')
      service = await startBusyLocalnetProcess(t, dataDir, FLAGS)
      const last = known.at(-1)!.slot
      await until(async () => (await user.rows()).at(-1)!.slot > last, `rows after kill ${kill}`)
      const rows = await user.rows()
      t.strictSame(
        withoutSymbols(rows.slice(0, known.length)),
        withoutSymbols(known),
        `kill ${kill}: earlier rows stay as they were`
      )
      followEachOther(t, rows, [], `kill ${kill}`)
    }
    await until(async () => ends.advances > KILLS, `${KILLS} ends and more are stated`)
    polling.abort()
    await polled
    t.strictSame(ends.broken, [], 'no row comes at or before an end that an answer stated')
    t.ok(ends.advances > KILLS, `${ends.advances} ends were stated`)
    t.strictSame(await user.gaps(), [])
    const chain = new Connection(service.rpcUrl, 'confirmed')
    t.teardown(() => closeConnection(chain))
    const ledgerSlot = async (): Promise<number> =>
      ledgerSlotIn((await service.get('/v1/admin/tree')).body as unknown as TreeNode)
    for (const address of traders) await endAtBalances(t, user, chain, address, ledgerSlot)
    await totalsEqual(t, user)
    t.match(await service.end('SIGTERM'), { code: 0 })
  }
)

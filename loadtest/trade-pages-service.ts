/**
 * Serves pages of trades without a response cache, on the store of a synthetic market. Arguments: the data directory, and a
 * comma-separated list of mints. Any message is answered with the microseconds of each stage of making a page.
 */
import { join } from 'node:path'
import { bootstrapKeys } from '../src/access/bootstrap.ts'
import { KeyDirectory } from '../src/access/key-directory.ts'
import { tradeBody } from '../src/api/trade.ts'
import { encodeBase58 } from '../src/chain/base58.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../src/chain/pubkey.ts'
import { buildApp } from '../src/http/app.ts'
import { Rendering } from '../src/http/rendering.ts'
import { tradeRoutes } from '../src/http/routes/trades.ts'
import { CashList } from '../src/market/cash.ts'
import type { TradeRow } from '../src/market/rows.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { appDeps, NO_LIMIT } from './app-deps.ts'
import { HEADERS } from './served-market.ts'

/** Rows of a page and one more, which shows whether a further page exists. */
const ROWS = 101
const ROUNDS = 6
/** Memory for rows: two pages, so that each is read from its bytes. */
const HOT_BYTES = 2 ** 20

const [directory, mintTexts] = process.argv.slice(2)
const mints = mintTexts!.split(',').map(pubkeyFromBase58)
const storage = await openEmbeddedStorage({ directory: join(directory!, 'store'), hotBytesMax: HOT_BYTES })
await bootstrapKeys(storage, { adminKey: HEADERS['x-api-key'], hasDemo: false }, 1)
const keys = await KeyDirectory.load(storage, NO_LIMIT, null, NO_LIMIT)
const cash = new CashList()
const app = buildApp(appDeps({ storage, keys, cash, answerBytes: 0 }), [tradeRoutes])
process.on('message', () => void stages().then((made) => process.send!(made)))
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())

/** CPU microseconds of each stage of a page, in the last of some rounds over all mints. */
async function stages() {
  let micros: Record<string, number> = {}
  for (let round = 0; round < ROUNDS; round++) {
    const pages: (readonly TradeRow[])[] = []
    const page = { order: 'desc', limit: ROWS } as const
    const times = { rows_from_bytes: 0, rows_from_memory: 0 }
    for (const mint of mints) {
      times.rows_from_bytes += await spent(async () => pages.push(await storage.trades.ofMint(mint, page)))
      times.rows_from_memory += await spent(async () => storage.trades.ofMint(mint, page))
    }
    micros = times
    const bodies: object[] = []
    micros['objects_with_base58'] = await spent(() => {
      for (const rows of pages)
        bodies.push({
          tenant: 'default',
          data: rows.slice(0, ROWS - 1).map((row) => tradeBody(row, cash)),
          nextCursor: null
        })
    })
    const texts: string[] = []
    micros['json_text'] = await spent(() => {
      for (const body of bodies) texts.push(JSON.stringify(body))
    })
    micros['bytes_and_entity_tag'] = await spent(() => {
      for (const text of texts) new Rendering(text)
    })
    micros['base58_of_signatures_alone'] = await spent(() => {
      for (const rows of pages) for (const { signature } of rows) encodeBase58(signature)
    })
    const told = (row: TradeRow): readonly Pubkey[] => [
      row.user,
      row.feePayer,
      row.pool,
      row.program,
      row.inMint,
      row.outMint
    ]
    micros['base58_of_addresses_alone'] = await spent(() => {
      for (const rows of pages) for (const row of rows) for (const key of told(row)) pubkeyToBase58(key)
    })
  }
  return micros
}

async function spent(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / mints.length
}

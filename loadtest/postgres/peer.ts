/**
 * The peer of `rest-postgres.ts`: Fastify with `pg` on PostgreSQL, as a user would build it. One row a trade with the fields
 * that are served, one row a candle, and tables that an indexer would keep current: the newest price, sums by hour and by
 * minute, pools. The argument is the port of PostgreSQL on loopback.
 */
import fastify, { type FastifyRequest } from 'fastify'
import pg from 'pg'
import { HEADERS } from '../service-process.ts'

const [port, headTime = '0'] = process.argv.slice(2)
const now = Number(headTime)
const INT8 = 20
// The integers that are served are below 2^53.
pg.types.setTypeParser(INT8, Number)
const pool = new pg.Pool({
  host: '127.0.0.1',
  port: Number(port),
  user: 'bench',
  database: 'postgres',
  max: 10
})
const app = fastify()

app.addHook('onRequest', async (request, reply) => {
  if (request.headers['x-api-key'] !== HEADERS['x-api-key']) return reply.code(401).send({})
})

type Row = Readonly<Record<string, unknown>>

/** Runs a prepared statement. Its name is its text, so that each connection prepares it once. */
async function rowsOf(text: string, ...values: readonly unknown[]): Promise<Row[]> {
  return (await pool.query<Row>({ name: nameOf(text), text, values: [...values] })).rows
}

const names = new Map<string, string>()
function nameOf(text: string): string {
  const known = names.get(text) ?? `s${names.size}`
  names.set(text, known)
  return known
}

interface PageQuery {
  readonly limit: string
  readonly fields?: string
}

/** Returns the columns that a request selects, and the cursor by which the rows are ordered. */
function columnsOf({ fields }: PageQuery): string {
  if (fields === undefined) return '*'
  const chosen = fields.split(',').filter((name) => /^[a-z_]+$/.test(name))
  return [...new Set([...chosen, 'cursor'])].join()
}

async function page(table: string, address: string, query: PageQuery) {
  const limit = Number(query.limit)
  const columns = columnsOf(query)
  const text = `select ${columns} from ${table} where listed = $1 order by cursor desc limit $2`
  const rows = await rowsOf(text, address, limit + 1)
  const data = rows.slice(0, limit)
  return { data, nextCursor: rows.length > limit ? String(data.at(-1)!['cursor']) : null }
}

app.get(
  '/v1/tokens/:mint/trades',
  (request: FastifyRequest<{ Params: { mint: string }; Querystring: PageQuery }>) =>
    page('trades', request.params.mint, request.query)
)
app.get(
  '/v1/wallets/:wallet/trades',
  (request: FastifyRequest<{ Params: { wallet: string }; Querystring: PageQuery }>) =>
    page('wallet_trades', request.params.wallet, request.query)
)

app.get(
  '/v1/tokens/:mint/candles',
  async (
    request: FastifyRequest<{ Params: { mint: string }; Querystring: PageQuery & { cash?: string } }>
  ) => {
    const limit = Number(request.query.limit)
    const { mint } = request.params
    const text = 'select * from candles where listed = $1 order by ts_ms desc limit $2'
    const rows = await rowsOf(text, mint, limit + 1)
    const data = rows.slice(0, limit).reverse()
    return { data, nextCursor: rows.length > limit ? String(data[0]!['ts_ms']) : null }
  }
)

const DAY_SUMS = `sum(volume_usd) as volume_24h_usd, sum(volume_native) as volume_24h_native,
  sum(unpriced) as unpriced_trades_24h, (array_agg(open_usd order by hour))[1] as open_usd`
const PRICE = `select p.*, d.*, l.liquidity_usd from prices p,
  lateral (select ${DAY_SUMS} from hours where listed = p.listed and hour > $2) d,
  lateral (select sum(liquidity_usd) as liquidity_usd from pools where listed = p.listed) l
  where p.listed = $1`

app.get('/v1/tokens/:mint/price', async (request: FastifyRequest<{ Params: { mint: string } }>, reply) => {
  const [row] = await rowsOf(PRICE, request.params.mint, now - 86_400)
  if (row === undefined) return reply.code(404).send({})
  const { listed, open_usd: open, ...price } = row
  const usd = price['price_usd'] as number | null
  const change = usd === null || typeof open !== 'number' ? null : (usd / open - 1) * 100
  return {
    mint: listed,
    ...price,
    age_seconds: now - (price['ts_ms'] as number) / 1000,
    price_change_24h_pct: change
  }
})

/** Sums of the rolling windows: the long ones by hour, the short ones by minute. */
const WINDOW = `sum(volume_usd) as volume_usd, sum(trades) as trades, sum(buys) as buys, sum(sells) as sells,
  sum(buy_usd) as buy_usd, sum(sell_usd) as sell_usd, sum(unpriced) as unpriced_trades, max(traders) as traders`
const windowsText = `select * from
  (select json_agg(w) as long from (select ${WINDOW} from hours where listed = $1 and hour > $2
    union all select ${WINDOW} from hours where listed = $1 and hour > $3) w) a,
  (select json_agg(w) as short from (select ${WINDOW} from minutes where listed = $1 and minute > $4
    union all select ${WINDOW} from minutes where listed = $1 and minute > $5) w) b`

app.get('/v1/tokens/:mint', async (request: FastifyRequest<{ Params: { mint: string } }>, reply) => {
  const { mint } = request.params
  const [[price], [windows], pools] = await Promise.all([
    rowsOf(PRICE, mint, now - 86_400),
    rowsOf(windowsText, mint, now - 86_400, now - 21_600, now - 3_600, now - 300),
    rowsOf('select pool, venue, liquidity_usd from pools where listed = $1', mint)
  ])
  if (price === undefined) return reply.code(404).send({})
  const [day, quarter] = windows!['long'] as Row[]
  const [hour, minutes] = windows!['short'] as Row[]
  return { mint, price, pools, windows: { '5m': minutes, '1h': hour, '6h': quarter, '24h': day } }
})

process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())

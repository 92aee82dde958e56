/**
 * The peer of pages of trades: Fastify with `pg` on PostgreSQL, one row a trade with the fields that are served, and an index
 * by mint and cursor. The argument is the port of PostgreSQL on loopback.
 */
import fastify from 'fastify'
import pg from 'pg'
import { HEADERS } from './served-market.ts'

const [port] = process.argv.slice(2)
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
app.get<{ Params: { mint: string }; Querystring: { limit: string } }>(
  '/v1/tokens/:mint/trades',
  async (request, reply) => {
    if (request.headers['x-api-key'] !== HEADERS['x-api-key']) return reply.code(401).send({})
    const limit = Number(request.query.limit)
    const { rows } = await pool.query<{ readonly cursor: number }>({
      name: 'trades',
      text: 'select * from trades where mint = $1 order by cursor desc limit $2',
      values: [request.params.mint, limit + 1]
    })
    const data = rows.slice(0, limit)
    return { tenant: 'default', data, nextCursor: rows.length > limit ? String(data.at(-1)!.cursor) : null }
  }
)
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.once('SIGTERM', () => process.exit())

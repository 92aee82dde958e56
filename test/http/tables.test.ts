import { parse } from 'csv-parse/sync'
import t from 'tap'
import { SCOPES } from '../../src/access/scopes.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { block, buy, key, launch, NOON, sell, TOKEN } from '../market/world.ts'
import { marketApp } from './market-app.ts'

const MINT = pubkeyToBase58(TOKEN)

/** The columns of every list that has tables: a contract. New columns are added at the end. */
const COLUMNS: Readonly<Record<string, string>> = {
  trades:
    'cursor,ts,ts_ms,block_time,slot,signature,tx_index,ix_index,inner_ix_index,venue,program,pool,kind,event,is_buy,mint,decimals,cash_mint,cash_symbol,cash_amount,cash_amount_raw,token_amount,token_amount_raw,price,price_usd,amount_usd,trader,user,fee_payer,in_mint,out_mint,exec_in,exec_out,in_amount_raw,out_amount_raw,trader_in_raw,trader_out_raw,fee_raw,fee_mint,fees,legs,reserves,exact,price_forming,route_id,route_program,hop,hops,failed,commitment,source',
  candles:
    'ts,ts_ms,open,high,low,close,volume_usd,volume_token,volume_cash,trades,buys,sells,closed,unpriced_trades,source',
  launches:
    'cursor,ts,ts_ms,block_time,slot,signature,tx_index,ix_index,inner_ix_index,venue,program,pool,kind,event,mint,symbol,name,uri,decimals,supply_raw,creator,user,fee_payer,base_mint,quote_mint,curve,status,ingested_at,commitment,source',
  holders: 'rank,owner,token_account,amount,amount_raw,pct,token_accounts,is_pool,is_curve,is_burn',
  holdings:
    'mint,symbol,name,decimals,amount,amount_raw,ui_multiplier,price_usd,value_usd,price_ts,token_program,token_accounts,is_native,frozen',
  events:
    'cursor,id,ts,ts_ms,slot,signature,ix_index,address,label,role,account,mint,symbol,decimals,is_native,direction,kind,delta,delta_raw,pre_raw,post_raw,value_usd,counterparty,counterparty_confidence,fee_lamports,fee_payer,attributed_fee_usd,source'
}

t.test('the columns of tables keep their order, and are documented', async (t) => {
  const { app } = await marketApp(t)
  await app.ready()
  const tables = app.served.flatMap(({ endpoint }) => (endpoint.columns === null ? [] : [endpoint]))
  t.equal(tables.length, 11)
  const document = (await app.inject('/openapi.json')).json<{
    paths: Record<string, { get: { responses: Record<string, { content: Record<string, unknown> }> } }>
  }>()
  for (const { path, columns } of tables) {
    const expected = COLUMNS[path.split('/').at(-1)!]!
    const more: Readonly<Record<string, string>> = {
      '/v1/wallets/{wallet}/trades': ',wallet,side',
      '/v1/candles': ',mint,cash_mint'
    }
    t.equal(columns!.join(','), expected + (more[path] ?? ''), path)
    const { content } = document.paths[path]!.get.responses['200']!
    t.match(JSON.stringify(content['text/csv']), columns!.join(', '), path)
    t.ok(content['application/x-ndjson'], path)
  }
})

t.test('a page as CSV and NDJSON has the rows of JSON, and a link to the next page', async (t) => {
  const app = await marketApp(t)
  const name = '=HYPERLINK("x"), "quoted"\r\nand\tmore'
  await app.commit(
    block(300_000_001, NOON, [
      launch({ baseMint: TOKEN, name, symbol: '@x' }),
      buy(10n ** 9n, 10n ** 9n),
      buy(3n, 7n)
    ]),
    block(300_000_002, NOON + 70, [
      launch({ baseMint: key(7), name: '', symbol: '-5' }),
      sell(10n ** 8n, 10n ** 8n)
    ])
  )
  const headers = { 'x-api-key': await app.makeKey(SCOPES) }
  for (const path of [`/v1/tokens/${MINT}/trades`, `/v1/tokens/${MINT}/candles`, '/v1/launches']) {
    const rows: unknown[] = []
    const lines: unknown[] = []
    const cells: Record<string, string>[] = []
    const whole = (await app.get(path, headers)).body.data
    let url = `${path}?limit=1`
    for (let page = 0; ; page++) {
      const json = (await app.get(url, headers)).body
      rows.push(...json.data)
      const csv = await app.get(`${url}&format=csv`, headers)
      cells.push(...parse<Record<string, string>>(csv.text, { columns: true, record_delimiter: '\r\n' }))
      const ndjson = await app.get(url, { ...headers, accept: 'application/x-ndjson' })
      lines.push(
        ...ndjson.text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown)
      )
      const link = /^<(.*)>; rel="next"$/.exec(String(ndjson.headers.link))?.[1]
      t.equal(new URLSearchParams(link?.split('?')[1]).get('after'), json.nextCursor, path)
      t.match(csv.headers.link, json.nextCursor === null ? undefined : `after=${json.nextCursor}`)
      if (json.nextCursor === null) break
      url = link!
    }
    t.strictSame(lines, rows, path)
    t.equal(rows.length, whole.length)
    t.equal(cells.length, rows.length)
    for (const [at, row] of (rows as Record<string, unknown>[]).entries())
      for (const [column, text] of Object.entries(cells[at]!)) {
        const value = row[column] ?? ''
        const expected = typeof value === 'string' ? value : JSON.stringify(value)
        t.equal(text.replace(/^'(?='*[=+\-@\t\r])/, ''), expected, `${path} ${column}`)
      }
  }
  const { text } = await app.get('/v1/launches?format=csv&fields=symbol,name', headers)
  t.equal(text, `symbol,name\r\n-5,""\r\n'@x,"'=HYPERLINK(""x""), ""quoted""\r\nand\tmore"\r\n`)
  const origin = 'https://a.example'
  const page = await app.get('/v1/launches?format=csv&limit=1', {
    'x-api-key': await app.makeKey(SCOPES, { corsOrigins: [origin] }),
    origin
  })
  t.match(page.headers['access-control-expose-headers'], /\bLink\b/, 'a browser may read the link')
})

t.test('launches of a range of times are those of the list in that range, in both orders', async (t) => {
  const app = await marketApp(t)
  for (let at = 0; at < 12; at++)
    await app.commit(block(300_000_001 + at, NOON + 10 * at, [launch({ baseMint: key(300 + at) })]))
  const all = (await app.get('/v1/launches')).body.data
  for (const order of ['desc', 'asc'])
    for (const [from, to] of [
      [NOON, NOON + 120],
      [NOON + 15, NOON + 90],
      [NOON + 20, NOON + 21],
      [NOON + 500, NOON + 600]
    ] as const)
      for (const limit of [1, 3, 50]) {
        const found: unknown[] = []
        let after = ''
        for (;;) {
          const { body } = await app.get(
            `/v1/launches?from=${from}&to=${to}&order=${order}&limit=${limit}${after}`
          )
          found.push(...body.data)
          if (body.nextCursor === null) break
          after = `&after=${body.nextCursor}`
        }
        const expected = all.filter(({ block_time: time }) => Number(time) >= from && Number(time) < to)
        t.strictSame(
          found,
          order === 'desc' ? expected : expected.toReversed(),
          `${from} ${to} ${order} ${limit}`
        )
      }
  const { body } = await app.get(`/v1/launches?after=${all[3]!.cursor}&limit=2`)
  t.strictSame(body.data, all.slice(4, 6), 'the cursor of a row is an after')
})

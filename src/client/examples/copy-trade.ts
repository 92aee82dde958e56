import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createMillrace } from 'millrace/client'

/**
 * Prints an order for each trade of a wallet, at a fraction of its size, as a line of JSON. A restart resumes after the last
 * printed trade: the cursor is in a file.
 */

const [wallet, fractionText = '0.1', cursorFile = 'copy-trade.cursor'] = process.argv.slice(2)
const { MILLRACE_URL = 'http://127.0.0.1:8900', MILLRACE_KEY = '' } = process.env
const fraction = Number(fractionText)
if (wallet === undefined || !(fraction > 0)) {
  console.error('usage: MILLRACE_KEY=… node copy-trade.ts WALLET [FRACTION] [CURSOR_FILE]')
  process.exit(2)
}

const millrace = createMillrace({
  url: MILLRACE_URL,
  key: MILLRACE_KEY,
  onNotice: ({ kind, message }) => console.error(`${kind}: ${message}`)
})

for await (const item of millrace.stream.subscribe([`wallet:${wallet}`], { since: storedCursor() })) {
  if (item.kind === 'gap') {
    console.error(`trades after cursor ${item.since} are no longer on the stream: read wallets.trades`)
    continue
  }
  if (item.kind === 'retract') console.log(JSON.stringify({ action: 'cancel', of: item.data.of }))
  else {
    const {
      mint,
      is_buy: isBuy,
      cash_amount: cash,
      cash_symbol: symbol,
      token_amount: tokens,
      price
    } = item.data
    const side = isBuy === null ? 'swap' : isBuy === 1 ? 'buy' : 'sell'
    console.log(
      JSON.stringify({
        action: 'order',
        ...{ side, mint, price, cash_symbol: symbol },
        cash_amount: cash === null ? null : cash * fraction,
        token_amount: tokens * fraction,
        ...{
          venue: item.data.venue,
          pool: item.data.pool,
          signature: item.data.signature,
          cursor: item.cursor
        },
        age_ms: Date.now() - item.data.block_time * 1_000
      })
    )
  }
  storeCursor(item.cursor)
}

/** Returns the cursor of the last printed event; null on the first start. */
function storedCursor(): number | null {
  try {
    return Number(readFileSync(cursorFile, 'utf8'))
  } catch {
    return null
  }
}

/** Replaces the file as a whole, so that a crash leaves the old cursor or the new one. */
function storeCursor(cursor: number): void {
  writeFileSync(`${cursorFile}.new`, String(cursor))
  renameSync(`${cursorFile}.new`, cursorFile)
}

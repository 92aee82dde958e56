import type { Gap, StreamEvent } from '../../client/client.ts'
import { symbolOrMint } from '../../market/cash.ts'

/** Formats an event as a line for people: time of ingest, event, transaction. */
export function eventLine(event: StreamEvent): string {
  const time = new Date(event.data.ts_ms).toISOString().slice(11, 23)
  return [time, ...wordsOf(event), ...('signature' in event.data ? [event.data.signature] : [])].join('  ')
}

/** Formats a gap as a line for people. */
export function gapLine({ reason, channels, since, until }: Gap): string {
  const span = until === null ? `after ${since}` : `after ${since} up to ${until}`
  return `gap: events of ${channels.join(', ')} ${span} are missing (${reason})`
}

function wordsOf(event: StreamEvent): string[] {
  switch (event.kind) {
    case 'trade': {
      const { venue, event: side, token_amount, cash_amount, cash_symbol, price, amount_usd } = event.data
      const { mint, cash_mint, in_mint, out_mint, exec_in, exec_out } = event.data
      if (side === 'swap')
        return [venue, `swap  ${exec_in} ${symbolOrMint(in_mint)} for ${exec_out} ${symbolOrMint(out_mint)}`]
      const worth = amount_usd === null ? '' : `  ${amount_usd.toFixed(2)} USD`
      const amounts = `${token_amount} ${symbolOrMint(mint)} for ${cash_amount} ${cash_symbol ?? cash_mint}`
      return [venue, `${side.padEnd(4)}  ${amounts} at ${rounded(price)}${worth}`]
    }
    case 'price': {
      const { venue, mint, price, cash_mint } = event.data
      return [venue, `price  ${symbolOrMint(mint)} ${rounded(price)} ${symbolOrMint(cash_mint)}`]
    }
    case 'launch': {
      const { venue, symbol, name, mint, creator } = event.data
      return [venue, `launch  ${shown(symbol)} ${shown(name)} ${mint} by ${creator}`]
    }
    case 'curve': {
      const { venue, event: step, base_mint, progress_pct, pool } = event.data
      const progress = progress_pct === null ? '' : `  ${progress_pct.toFixed(1)} %`
      return [venue, `curve ${step}  ${base_mint} in ${pool}${progress}`]
    }
    case 'liquidity': {
      const { venue, event: change, pool, base_amount, base_mint, quote_amount, quote_mint } = event.data
      const [base, quote] = [base_mint, quote_mint].map((mint) => (mint === null ? '–' : symbolOrMint(mint)))
      const sides = `${base_amount} ${base} and ${quote_amount} ${quote}`
      return [venue, `liquidity ${change}  ${sides} in ${pool}`]
    }
    case 'pool': {
      const { venue, event: change, pool, base_mint, quote_mint } = event.data
      return [venue, `pool ${change}  ${pool} of ${symbolOrMint(base_mint)} and ${symbolOrMint(quote_mint)}`]
    }
    case 'transaction': {
      const { event: state, slot, rebroadcasts } = event.data
      return [`transaction ${state}`, slot === null ? `${rebroadcasts} rebroadcasts` : `in slot ${slot}`]
    }
    case 'webhook': {
      const { event: change, webhook_id, url, reason, dropped } = event.data
      const detail = reason ?? (dropped === undefined ? '' : `${dropped} events`)
      return [`webhook ${change}  ${webhook_id} ${shown(url)} ${detail}`.trimEnd()]
    }
    case 'ledger': {
      const { event: change, label, kind, delta, symbol, mint, value_usd } = event.data
      const worth = value_usd === null ? '' : `  ${value_usd.toFixed(2)} USD`
      const named = symbol === null ? mint : shown(symbol)
      return [`ledger ${change}  ${shown(label)} ${kind} ${delta} ${named}${worth}`]
    }
    case 'retract':
      return [`retract  the event at ${event.data.of} was of a lost fork`]
  }
}

/** Rounds a price to the digits that a person compares. */
const rounded = (price: number | null): number | null => price && Number(price.toPrecision(6))

/** Escapes text that anyone can choose, such as a token's name: no control character may reach the terminal. */
function shown(name: string): string {
  return JSON.stringify(name.replaceAll(/\p{C}/gu, '?'))
}

import { createMillrace } from 'millrace/client'

/** Posts to a URL whenever the price of a token crosses a limit, upward or downward. */

const [mint, limitText, postUrl] = process.argv.slice(2)
const { MILLRACE_URL = 'http://127.0.0.1:8900', MILLRACE_KEY = '' } = process.env
const limit = Number(limitText)
if (mint === undefined || postUrl === undefined || !(limit > 0)) {
  console.error('usage: MILLRACE_KEY=… node price-alert.ts MINT LIMIT POST_URL')
  process.exit(2)
}

const millrace = createMillrace({ url: MILLRACE_URL, key: MILLRACE_KEY })

/** Whether the last price was at the limit or above; null before the first price. */
let isAbove: boolean | null = null

for await (const item of millrace.stream.subscribe([`price:${mint}`])) {
  // A gap or a retracted trade needs no action: the next price counts.
  if (item.kind !== 'price') continue
  const { price, venue, slot } = item.data
  const wasAbove: boolean | null = isAbove
  isAbove = price >= limit
  if (wasAbove === null || wasAbove === isAbove) continue
  const direction = isAbove ? 'above' : 'below'
  const response = await fetch(postUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    // Slack and Discord show `text` and `content`; a program reads the fields.
    body: JSON.stringify({
      text: `${mint} is ${direction} ${limit}: ${price}`,
      content: `${mint} is ${direction} ${limit}: ${price}`,
      ...{ mint, limit, price, direction, venue, slot }
    }),
    signal: AbortSignal.timeout(10_000)
  }).catch((error: Error) => error)
  const outcome = response instanceof Error ? response.message : `answered ${response.status}`
  console.log(`${direction} ${limit} at ${price} in slot ${slot}: the receiver ${outcome}`)
}

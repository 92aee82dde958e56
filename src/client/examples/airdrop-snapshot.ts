import { createMillrace, type Holder } from 'millrace/client'

/**
 * Writes who gets how much of an airdrop as CSV: the holders of a token at one slot, without pools, curves and burn addresses,
 * each with its share of the amount. The shares add up to the amount exactly.
 */

const [mint, amountText, minPct = '0'] = process.argv.slice(2)
const { MILLRACE_URL = 'http://127.0.0.1:8900', MILLRACE_KEY = '' } = process.env
if (mint === undefined || !/^[1-9]\d*$/.test(amountText ?? '')) {
  console.error('usage: MILLRACE_KEY=… node airdrop-snapshot.ts MINT AMOUNT_IN_BASE_UNITS [MIN_PCT]')
  process.exit(2)
}
const amount = BigInt(amountText!)

const millrace = createMillrace({ url: MILLRACE_URL, key: MILLRACE_KEY })

// All pages of one run show the list at one slot.
const holders: Holder[] = []
let slot = 0
for await (const page of millrace.tokens.holders(mint, { limit: 100, min_pct: minPct }).pages()) {
  holders.push(...page.data)
  slot = page.slot
}
const people = holders.filter(({ is_pool, is_curve, is_burn }) => !is_pool && !is_curve && !is_burn)
const held = people.reduce((sum, { amount_raw }) => sum + BigInt(amount_raw), 0n)
const shares = people.map(({ owner, amount_raw }) => ({
  owner,
  amount_raw,
  share: held === 0n ? 0n : (amount * BigInt(amount_raw)) / held
}))
// Division rounds down: the rest goes to the largest holders, one base unit each.
const rest = held === 0n ? 0n : amount - shares.reduce((sum, { share }) => sum + share, 0n)

console.log('owner,balance_raw,airdrop_raw')
for (const [at, { owner, amount_raw, share }] of shares.entries())
  console.log(`${owner},${amount_raw},${share + (BigInt(at) < rest ? 1n : 0n)}`)
console.error(
  `${people.length} of ${holders.length} owners at slot ${slot}; pools, curves and burn addresses get nothing`
)

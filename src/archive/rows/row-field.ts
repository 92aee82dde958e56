/** The fields of a trade row, with their meaning. A mapping names the column of each. */
export const ROW_FIELDS = {
  slot: 'slot of the block',
  block_time:
    'time of the block: Unix seconds, milliseconds or microseconds, or a date with a time, UTC by default',
  signature: 'signature of the transaction',
  success: 'whether the transaction succeeded',
  venue: 'name of the venue, as on the wire',
  program: 'address of the program that executed the trade',
  pool: 'address of the pool',
  trader: 'address of the trader',
  in_mint: 'mint that the trader paid',
  out_mint: 'mint that the trader received',
  in_amount_raw: 'amount paid, in base units',
  out_amount_raw: 'amount received, in base units',
  in_amount: 'amount paid, in human units',
  out_amount: 'amount received, in human units',
  in_decimals: 'decimals of the mint paid',
  out_decimals: 'decimals of the mint received',
  mint: 'one of the two mints, for `decimals`',
  decimals: 'decimals of `mint`',
  tx_index: 'index of the transaction in its block, from 0',
  ix_index: 'index of the top-level instruction, from 0',
  inner_ix_index: 'index of the inner instruction, from 0; empty for a top-level instruction',
  ix_number: 'number of the top-level instruction, from 1',
  inner_ix_number: 'number of the inner instruction, from 1; 0 or empty for a top-level instruction',
  price: 'price of the trade; only checked',
  sol_usd: 'USD per SOL at the trade',
  amount_usd: 'value in USD; only of rows of this service',
  price_usd: 'price in USD; only of rows of this service',
  cursor: 'cursor; this and the next fields only of rows of this service',
  fee_payer: 'payer of the transaction fee',
  commitment: 'commitment when the block was indexed',
  trader_in_raw: "amount that left the trader's accounts",
  trader_out_raw: "amount that reached the trader's accounts",
  fees: 'fees, as JSON',
  reserves: 'reserves after the trade, as JSON',
  exact: 'side that the trader fixed',
  route_id: 'signature and instruction of the route',
  route_program: 'program that routed',
  hop: 'position in the route',
  hops: 'fills of the route'
} as const

export type RowField = keyof typeof ROW_FIELDS

/** The names of the fields. */
export const ROW_FIELD_NAMES = Object.keys(ROW_FIELDS) as unknown as readonly [RowField, ...RowField[]]

/** The cells of a row by field, as text; null or absent if the row has no value. */
export type RowCells = { readonly [Field in RowField]?: string | null }

/**
 * Returns what every trade needs and these fields do not give, in words. With `hasVenue`, the operator names the venue.
 */
export function lackingFields(fields: ReadonlySet<RowField>, hasVenue: boolean): readonly string[] {
  const has = (...names: readonly RowField[]): boolean => names.every((name) => fields.has(name))
  const hasAmount = (side: 'in' | 'out'): boolean =>
    has(`${side}_amount_raw`) ||
    (has(`${side}_amount`) && (has(`${side}_decimals`) || has('mint', 'decimals')))
  return [
    has('signature') ? [] : ['signature'],
    has('slot') || has('block_time') ? [] : ['slot or block_time'],
    hasVenue || has('venue') || has('program') ? [] : ['venue or program'],
    has('in_mint') ? [] : ['in_mint'],
    has('out_mint') ? [] : ['out_mint'],
    hasAmount('in') ? [] : ['in_amount_raw, or in_amount with in_decimals'],
    hasAmount('out') ? [] : ['out_amount_raw, or out_amount with out_decimals']
  ].flat()
}

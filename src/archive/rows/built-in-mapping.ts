import type { Mapping } from './mapping.ts'

/**
 * Rows of this service's API and exports (src/docs/endpoints.md). They state the decimals of one mint; those of the other follow
 * from its amount in both units.
 */
const OWN: Mapping = {
  name: 'millrace',
  isStrict: false,
  columns: {
    slot: 'slot',
    block_time: 'block_time',
    signature: 'signature',
    venue: 'venue',
    program: 'program',
    pool: 'pool',
    trader: 'trader',
    in_mint: 'in_mint',
    out_mint: 'out_mint',
    in_amount_raw: 'in_amount_raw',
    out_amount_raw: 'out_amount_raw',
    in_amount: 'exec_in',
    out_amount: 'exec_out',
    mint: 'mint',
    decimals: 'decimals',
    tx_index: 'tx_index',
    ix_index: 'ix_index',
    inner_ix_index: 'inner_ix_index',
    price: 'price',
    amount_usd: 'amount_usd',
    price_usd: 'price_usd',
    cursor: 'cursor',
    fee_payer: 'fee_payer',
    commitment: 'commitment',
    trader_in_raw: 'trader_in_raw',
    trader_out_raw: 'trader_out_raw',
    fees: 'fees',
    reserves: 'reserves',
    exact: 'exact',
    route_id: 'route_id',
    route_program: 'route_program',
    hop: 'hop',
    hops: 'hops'
  }
}

/**
 * Dune's table `dex_solana.trades`: https://docs.dune.com/data-catalog/curated/dex-trades/solana/solana-dex-trades, whose
 * columns are those of `dex_solana_trades.sql` in https://github.com/duneanalytics/spellbook. There `project_main_id` is
 * the program and `project_program_id` the pool. Amounts are stated in both units, so decimals follow from them. Instructions are numbered as explorers show them, from 1
 * (https://docs.dune.com/data-catalog/solana/idl-tables); 0 is a call that is not inner.
 */
const DUNE: Mapping = {
  name: 'dune dex_solana.trades',
  isStrict: false,
  columns: {
    slot: 'block_slot',
    block_time: 'block_time',
    signature: 'tx_id',
    program: 'project_main_id',
    pool: 'project_program_id',
    trader: 'trader_id',
    in_mint: 'token_sold_mint_address',
    out_mint: 'token_bought_mint_address',
    in_amount_raw: 'token_sold_amount_raw',
    out_amount_raw: 'token_bought_amount_raw',
    in_amount: 'token_sold_amount',
    out_amount: 'token_bought_amount',
    tx_index: 'tx_index',
    ix_number: 'outer_instruction_index',
    inner_ix_number: 'inner_instruction_index'
  }
}

/**
 * Bitquery's `DEXTrades` of Solana, flattened as in its data dumps: https://docs.bitquery.io/docs/cloud/solana, with the
 * sample `solana/dex_trades.js` of https://github.com/bitquery/blockchain-cloud-data-dump-sample. The answers of its API
 * (https://docs.bitquery.io/docs/blockchain/Solana/solana-dextrades) have the same names as nested objects. In the samples,
 * `Buy` is what the trader receives, native SOL is the address of the system program, and both sequence numbers count
 * from 1, the internal one 0 for a call that is not inner. Prices are rounded to 10 digits, some to 0, so they are not read.
 */
const BITQUERY: Mapping = {
  name: 'bitquery DEXTrades',
  isStrict: false,
  columns: {
    slot: 'Block_Slot',
    block_time: 'Block_Time',
    signature: 'Transaction_Signature',
    success: 'Transaction_Result_Success',
    program: 'Trade_Dex_ProgramAddress',
    pool: 'Trade_Market_MarketAddress',
    trader: 'Transaction_Signer',
    in_mint: 'Trade_Sell_Currency_MintAddress',
    out_mint: 'Trade_Buy_Currency_MintAddress',
    in_amount: 'Trade_Sell_Amount',
    out_amount: 'Trade_Buy_Amount',
    in_decimals: 'Trade_Sell_Currency_Decimals',
    out_decimals: 'Trade_Buy_Currency_Decimals',
    tx_index: 'Transaction_Index',
    ix_number: 'Instruction_ExternalSeqNumber',
    inner_ix_number: 'Instruction_InternalSeqNumber'
  }
}

/**
 * Flipside's table `solana.defi.ez_dex_swaps`: `models/gold/defi/defi__ez_dex_swaps.yml` of
 * https://github.com/FlipsideCrypto/solana-models. Amounts are in human units, and the table has no decimals: the query must
 * join them as `swap_from_decimals` and `swap_to_decimals`. The table has no pool and no place within the slot.
 */
const FLIPSIDE: Mapping = {
  name: 'flipside ez_dex_swaps',
  isStrict: false,
  columns: {
    slot: 'block_id',
    block_time: 'block_timestamp',
    signature: 'tx_id',
    program: 'program_id',
    trader: 'swapper',
    in_mint: 'swap_from_mint',
    out_mint: 'swap_to_mint',
    in_amount: 'swap_from_amount',
    out_amount: 'swap_to_amount',
    in_decimals: 'swap_from_decimals',
    out_decimals: 'swap_to_decimals'
  }
}

/** Mappings that are tried in this order if the operator names none. */
export const BUILT_IN_MAPPINGS: readonly Mapping[] = [OWN, DUNE, BITQUERY, FLIPSIDE]

import { option, pubkey, string, u16, u32, u64, u8 } from '../codec.ts'
import { instruction, layout } from '../layout.ts'

// Source: the vendor's published interface, versions 1 and 4.

const TRADE_ARGS = { tokenAmount: u64, collateralAmount: u64, fixedSide: u8, slippageBps: u64 }
export const TRADE_ACCOUNTS = {
  sender: 0,
  senderTokenAccount: 1,
  curveAccount: 2,
  curveTokenAccount: 3,
  dexFee: 4,
  helioFee: 5,
  mint: 6,
  configAccount: 7
}

export const buy = instruction('buy', '66063d1201daebea', TRADE_ARGS, TRADE_ACCOUNTS)
export const sell = instruction('sell', '33e685a4017f83ad', TRADE_ARGS, TRADE_ACCOUNTS)

export const tokenMint = instruction(
  'tokenMint',
  '032ca4b87b0df5b3',
  {
    name: string,
    symbol: string,
    uri: string,
    decimals: u8,
    collateralCurrency: u8,
    amount: u64,
    curveType: u8,
    migrationTarget: u8
  },
  { sender: 0, backendAuthority: 1, curveAccount: 2, mint: 3, mintMetadata: 4, curveTokenAccount: 5 },
  { priceIncrease: u16, collateralCollected: u64 }
)

export const migrateFunds = instruction(
  'migrateFunds',
  '2ae50ae7bd3ec1ae',
  {},
  {
    backendAuthority: 0,
    migrationAuthority: 1,
    curveAccount: 2,
    curveTokenAccount: 3,
    migrationAuthorityTokenAccount: 4,
    mint: 5,
    dexFeeAccount: 6,
    helioFeeAccount: 7,
    configAccount: 8
  }
)

const CONFIG_ARGS = {
  migrationAuthority: option(pubkey),
  backendAuthority: option(pubkey),
  configAuthority: option(pubkey),
  helioFee: option(pubkey),
  dexFee: option(pubkey),
  feeBps: option(u16),
  dexFeeShare: option(u8),
  migrationFee: option(u64),
  marketcapThreshold: option(u64),
  marketcapCurrency: option(u8),
  minSupportedDecimalPlaces: option(u8),
  maxSupportedDecimalPlaces: option(u8),
  minSupportedTokenSupply: option(u64),
  maxSupportedTokenSupply: option(u64),
  coefB: option(u32)
}
const CONFIG_V4_ARGS = {
  constantProductV1McapThreshold: option(u64),
  constantProductV2McapThreshold: option(u64)
}
export const configInit = instruction('configInit', '0deca4ad6afda4b9', CONFIG_ARGS, {}, CONFIG_V4_ARGS)
export const configUpdate = instruction('configUpdate', '50256d88528759f1', CONFIG_ARGS, {}, CONFIG_V4_ARGS)

export const tradeEvent = layout(
  'TradeEvent',
  'bddb7fd34ee661ee',
  {
    amount: u64,
    collateralAmount: u64,
    dexFee: u64,
    helioFee: u64,
    allocation: u64,
    curve: pubkey,
    costToken: pubkey,
    sender: pubkey,
    type: u8
  },
  { label: string }
)

export const migrationEvent = layout(
  'MigrationEvent',
  'ffca4c935be74916',
  { tokensMigrated: u64, tokensBurned: u64, collateralMigrated: u64, fee: u64 },
  { label: string }
)

export const INSTRUCTIONS = [buy, sell, tokenMint, migrateFunds, configInit, configUpdate] as const
export const EVENTS = [tradeEvent, migrationEvent] as const

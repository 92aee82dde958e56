import type { Pubkey } from '../../../chain/pubkey.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { VenueWorld } from '../venue.ts'
import { key, newAddress, type Caller } from './pool-sides.ts'
import { Program } from './program.ts'
import { account } from './record.ts'

// Source: vault IDL 0.7.2 of @meteora-ag/vault-sdk 2.3.1.

const program = new Program(key('24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi'), 'log', {})
export const VAULT_PROGRAM = program.address

const initialize = program.instruction(
  'Initialize',
  'afaf6d1f0d989bed',
  '',
  'address* payer! tokenVault* mint lpMint* rent token system'
)
const MOVE_ACCOUNTS = 'address* tokenVault* lpMint* userToken* userShares* authority token'
const deposit = program.instruction(
  'Deposit',
  'f223c68952e1f2b6',
  'tokenAmount:u64 minimumLpTokenAmount?:u64',
  MOVE_ACCOUNTS
)
const withdraw = program.instruction(
  'Withdraw',
  'b712469c946da122',
  'unmintAmount:u64 minOutAmount?:u64',
  MOVE_ACCOUNTS
)

const vaultAccount = account(
  1227,
  'd308e82b02987577',
  `enabled:bool@8 total:u64@11 tokenVault:pubkey@19 mint:pubkey@83 lpMint:pubkey@115`
)

/** A vault of one mint that holds a pool's tokens. It earns nothing here, so a share is worth one token. */
export interface MeteoraVault {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly tokenVault: Pubkey
  readonly lpMint: Pubkey
}

/** Accounts of a vault's user. */
export interface VaultUser {
  readonly userToken: Pubkey
  readonly userShares: Pubkey
  /** Signs deposits. */
  readonly authority: Pubkey
}

export function openVault(script: Caller, payer: Pubkey, mint: Pubkey, world: VenueWorld): MeteoraVault {
  const { ledger } = world
  const vault: MeteoraVault = {
    address: newAddress(world),
    mint,
    tokenVault: newAddress(world),
    lpMint: newAddress(world)
  }
  const { address, tokenVault, lpMint } = vault
  initialize.call(script, { ...vault, payer }, {}, (call) => {
    call.createTokenAccount(tokenVault, address, mint)
    call.createMint({ address: lpMint, decimals: ledger.mint(mint).decimals, authority: address })
    writeVault(call, vault, ledger)
  })
  return vault
}

/** Deposits tokens of a user for shares, or withdraws tokens for burned shares. */
export function moveThrough(
  call: CallScript,
  way: 'in' | 'out',
  vault: MeteoraVault,
  user: VaultUser,
  amount: bigint,
  ledger: LedgerView
): void {
  const { mint, tokenVault, lpMint, address } = vault
  const { userToken, userShares, authority } = user
  const addresses = { ...vault, ...user }
  const unchecked = { mint, amount, checked: false }
  if (way === 'in') {
    deposit.call(call, addresses, { tokenAmount: amount }, (inner) => {
      inner.transfer({ ...unchecked, from: userToken, to: tokenVault, authority })
      inner.mintTo({ mint: lpMint, to: userShares, authority: address, amount })
      writeVault(inner, vault, ledger)
    })
    return
  }
  withdraw.call(call, addresses, { unmintAmount: amount }, (inner) => {
    inner.transfer({ ...unchecked, from: tokenVault, to: userToken, authority: address })
    inner.burn({ mint: lpMint, from: userShares, authority, amount })
    writeVault(inner, vault, ledger)
  })
}

function writeVault(call: CallScript, vault: MeteoraVault, ledger: LedgerView): void {
  const total = ledger.tokens(vault.tokenVault)
  call.write(vault.address, vaultAccount({ ...vault, enabled: true, total }))
}

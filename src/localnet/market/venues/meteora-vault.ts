import { u64 } from '../../../chain/codec.ts'
import { layout } from '../../../chain/layout.ts'
import type { Pubkey } from '../../../chain/pubkey.ts'
import { RENT_SYSVAR, SYSTEM, TOKEN } from '../../programs.ts'
import type { CallScript, LedgerView } from '../script.ts'
import type { VenueWorld } from '../venue.ts'
import { AccountBytes } from './account-bytes.ts'
import { reads, signs, writes } from './account-uses.ts'
import { key, newAddress, type Caller } from './pool-sides.ts'

// Source: vault IDL 0.7.2 of @meteora-ag/vault-sdk 2.3.1.

export const VAULT_PROGRAM = key('24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi')

const initialize = layout('initialize', 'afaf6d1f0d989bed', {})
const deposit = layout('deposit', 'f223c68952e1f2b6', { tokenAmount: u64, minimumLpTokenAmount: u64 })
const withdraw = layout('withdraw', 'b712469c946da122', { unmintAmount: u64, minOutAmount: u64 })

/** A vault of one mint, where a pool keeps its tokens. It earns nothing here, so that a share is worth a token. */
export interface MeteoraVault {
  readonly address: Pubkey
  readonly mint: Pubkey
  readonly tokenVault: Pubkey
  readonly lpMint: Pubkey
}

/** Whose tokens and shares a vault takes or gives. */
export interface VaultUser {
  readonly token: Pubkey
  readonly shares: Pubkey
  /** Signs for what the vault takes. */
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
  const accounts = [
    writes(address),
    signs(payer),
    writes(tokenVault),
    reads(mint),
    writes(lpMint),
    reads(RENT_SYSVAR),
    reads(TOKEN),
    reads(SYSTEM)
  ]
  script.call(VAULT_PROGRAM, accounts, initialize.write({}), (call) => {
    call.log('Instruction: Initialize')
    call.createTokenAccount(tokenVault, address, mint)
    call.createMint({ address: lpMint, decimals: ledger.mint(mint).decimals, authority: address })
    writeVault(call, vault, ledger)
  })
  return vault
}

/** Tokens of a user for shares. */
export function depositInto(
  call: CallScript,
  vault: MeteoraVault,
  user: VaultUser,
  amount: bigint,
  ledger: LedgerView
): void {
  const data = deposit.write({ tokenAmount: amount, minimumLpTokenAmount: 0n })
  call.call(VAULT_PROGRAM, usesOf(vault, user), data, (inner) => {
    inner.log('Instruction: Deposit')
    const { mint, tokenVault: to, lpMint, address } = vault
    inner.transfer({ mint, from: user.token, to, authority: user.authority, amount, checked: false })
    inner.mintTo({ mint: lpMint, to: user.shares, authority: address, amount })
    writeVault(inner, vault, ledger)
  })
}

/** Tokens of the vault for a user's shares. */
export function withdrawFrom(
  call: CallScript,
  vault: MeteoraVault,
  user: VaultUser,
  amount: bigint,
  ledger: LedgerView
): void {
  const data = withdraw.write({ unmintAmount: amount, minOutAmount: 0n })
  call.call(VAULT_PROGRAM, usesOf(vault, user), data, (inner) => {
    inner.log('Instruction: Withdraw')
    const { mint, tokenVault: from, lpMint, address } = vault
    inner.transfer({ mint, from, to: user.token, authority: address, amount, checked: false })
    inner.burn({ mint: lpMint, from: user.shares, authority: user.authority, amount })
    writeVault(inner, vault, ledger)
  })
}

function usesOf({ address, tokenVault, lpMint }: MeteoraVault, user: VaultUser) {
  return [
    ...[address, tokenVault, lpMint, user.token, user.shares].map(writes),
    reads(user.authority),
    reads(TOKEN)
  ]
}

function writeVault(call: CallScript, vault: MeteoraVault, ledger: LedgerView): void {
  const state = new AccountBytes(1227, 'd308e82b02987577')
    .u8(8, 1)
    .u64(11, ledger.tokens(vault.tokenVault))
    .key(19, vault.tokenVault)
    .key(83, vault.mint)
    .key(115, vault.lpMint)
  call.write(vault.address, state.bytes)
}

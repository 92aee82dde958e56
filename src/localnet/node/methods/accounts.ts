import { samePubkey } from '../../../chain/pubkey.ts'
import type { Commitment } from '../../../market/rows.ts'
import type { LocalAccount, LocalChain } from '../../chain.ts'
import { accountFormOf, encodeAccount, encodeKeyedAccount, type AccountForm } from '../account-encoding.ts'
import { accountFilterOf } from '../account-filters.ts'
import { integer } from '../json.ts'
import { inContext, method, withSlot, type Method } from '../method.ts'
import type { DecimalsOf } from '../parsed-account.ts'
import {
  addressOf,
  booleanOf,
  commitmentConfigOf,
  configOf,
  countOf,
  invalidType,
  isMap,
  listOf,
  optional,
  unknownVariant
} from '../params.ts'
import { invalidParams, invalidRequest } from '../rpc-error.ts'
import { uiTokenAmount } from '../token-amount.ts'
import { readMint, readTokenAccount, tokenProgramOf } from '../token-state.ts'

/** Maximum number of accounts in getMultipleAccounts (agave, MAX_MULTIPLE_ACCOUNTS). */
const ACCOUNTS_MAX = 100
/** Maximum data length for a rent query (agave, MAX_PERMITTED_DATA_LENGTH). */
const DATA_BYTES_MAX = 10 * 1024 * 1024

export const decimalsOf =
  (chain: LocalChain): DecimalsOf =>
  (mint) => {
    const account = chain.account(mint)
    if (account === null || tokenProgramOf(account.owner) === null) return null
    return readMint(account.data)?.decimals ?? null
  }

/** Methods that read accounts, at the newest block of the commitment. */
export const accountMethods: Readonly<Record<string, Method>> = {
  getBalance: method(1, 2, (node, [address, options]) => {
    const key = addressOf(address)
    return inContext(node, configOf(options, 'RpcContextConfig'), (commitment) =>
      integer(node.chain.account(key, commitment)?.lamports ?? 0n)
    )
  }),

  getAccountInfo: method(1, 2, (node, [address, options]) => {
    const config = configOf(options, 'RpcAccountInfoConfig')
    const form = accountFormOf(config, 'binary')
    const key = addressOf(address)
    return inContext(node, config, (commitment) => encodeOrNull(node.chain, key, form, commitment))
  }),

  getMultipleAccounts: method(1, 2, (node, [addresses, options]) => {
    const config = configOf(options, 'RpcAccountInfoConfig')
    const form = accountFormOf(config, 'base64')
    const list = listOf(addresses)
    if (list.length > ACCOUNTS_MAX) throw invalidParams(`Too many inputs provided; max ${ACCOUNTS_MAX}`)
    const keys = list.map(addressOf)
    return inContext(node, config, (commitment) =>
      keys.map((key) => encodeOrNull(node.chain, key, form, commitment))
    )
  }),

  getProgramAccounts: method(1, 2, (node, [program, options]) => {
    const config = configOf(options, 'RpcProgramAccountsConfig')
    const form = accountFormOf(config, 'binary')
    const key = addressOf(program)
    const filter = optional(config.filters, accountFilterOf) ?? (() => true)
    const context = optional(config.withContext, booleanOf) ?? false
    const answer = inContext(node, config, (commitment) =>
      encodeAll(node.chain, node.chain.accountsOf(key, commitment).filter(filter), form)
    )
    return context ? answer : (answer as { value: unknown }).value
  }),

  getTokenAccountsByOwner: method(2, 3, (node, [owner, which, options]) => {
    const config = configOf(options, 'RpcAccountInfoConfig')
    const form = accountFormOf(config, 'binary')
    const { program, mint } = tokenFilterOf(which)
    const key = addressOf(owner)
    return inContext(node, config, (commitment) => {
      const programOwner = program ?? ownerOfMint(node.chain, mint!, commitment)
      if (tokenProgramOf(programOwner) === null) {
        throw invalidParams(
          program === null
            ? 'Invalid param: not a Token mint'
            : 'Invalid param: unrecognized Token program id'
        )
      }
      const found = node.chain.accountsOf(programOwner, commitment).filter(({ data }) => {
        const state = readTokenAccount(data)
        return (
          state !== null && samePubkey(state.owner, key) && (mint === null || samePubkey(state.mint, mint))
        )
      })
      return encodeAll(node.chain, found, form)
    })
  }),

  getTokenAccountBalance: method(1, 2, ({ chain }, [address, options]) => {
    const key = addressOf(address)
    const commitment = commitmentConfigOf(options)
    const account = existing(chain, key, commitment)
    const state = tokenProgramOf(account.owner) === null ? null : readTokenAccount(account.data)
    if (state === null) throw invalidParams('Invalid param: not a Token account')
    const decimals = decimalsOf(chain)(state.mint)
    if (decimals === null) throw invalidParams('Invalid param: could not find mint')
    return withSlot(chain.slot(commitment), uiTokenAmount(state.amount, decimals))
  }),

  getTokenSupply: method(1, 2, ({ chain }, [address, options]) => {
    const key = addressOf(address)
    const commitment = commitmentConfigOf(options)
    const account = existing(chain, key, commitment)
    if (tokenProgramOf(account.owner) === null) throw invalidParams('Invalid param: not a Token mint')
    const mint = readMint(account.data)
    if (mint === null) throw invalidParams('Invalid param: mint could not be unpacked')
    return withSlot(chain.slot(commitment), uiTokenAmount(mint.supply, mint.decimals))
  }),

  getMinimumBalanceForRentExemption: method(1, 2, ({ chain }, [size, options]) => {
    const bytes = countOf(size, 'usize')
    commitmentConfigOf(options)
    if (bytes > DATA_BYTES_MAX) throw invalidRequest()
    return integer(chain.minimumBalance(bytes))
  })
}

function encodeOrNull(
  chain: LocalChain,
  key: Uint8Array,
  form: AccountForm,
  commitment: Commitment
): object | null {
  const account = chain.account(key, commitment)
  return account === null ? null : encodeAccount(account, form, decimalsOf(chain))
}

function encodeAll(chain: LocalChain, accounts: readonly LocalAccount[], form: AccountForm): object[] {
  return accounts.map((account) => encodeKeyedAccount(account, form, decimalsOf(chain)))
}

function existing(chain: LocalChain, key: Uint8Array, commitment: Commitment): LocalAccount {
  const account = chain.account(key, commitment)
  if (account === null) throw invalidParams('Invalid param: could not find account')
  return account
}

function ownerOfMint(chain: LocalChain, mint: Uint8Array, commitment: Commitment): Uint8Array {
  const account = chain.account(mint, commitment)
  if (account === null) throw invalidParams('Invalid param: could not find mint')
  return account.owner
}

function tokenFilterOf(value: unknown): { program: Uint8Array | null; mint: Uint8Array | null } {
  if (!isMap(value)) throw invalidType(value, 'string or map')
  const [entry, more] = Object.entries(value)
  if (entry === undefined || more !== undefined) {
    throw invalidParams('Invalid params: invalid value: map, expected map with a single key.')
  }
  const [kind, key] = entry
  if (kind === 'mint') return { program: null, mint: addressOf(key) }
  if (kind === 'programId') return { program: addressOf(key), mint: null }
  throw unknownVariant(kind, ['mint', 'programId'])
}

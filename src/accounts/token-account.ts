import type { Pubkey } from '../chain/pubkey.ts'
import { isRefused, taggedKey } from './optional-key.ts'
import type { Account } from './ports.ts'
import { refused, type Refused } from './refused.ts'
import { readExtensions, valueOf } from './token-extensions.ts'
import { tokenProgramOf, type TokenProgramName } from './token-program.ts'

const ACCOUNT_BYTES = 165
const STATES = ['uninitialized', 'initialized', 'frozen'] as const

/** A token account of either token program. */
export interface TokenAccount {
  readonly kind: 'token-account'
  readonly tokenProgram: TokenProgramName
  readonly mint: Pubkey
  readonly owner: Pubkey
  /** Base units. */
  readonly amount: bigint
  readonly state: 'initialized' | 'frozen'
  readonly delegate: Pubkey | null
  /** Base units that the delegate may still move; 0 without one. */
  readonly delegatedAmount: bigint
  readonly closeAuthority: Pubkey | null
  /** Lamports of an account of wrapped SOL that are no tokens; null for every other mint. */
  readonly nativeReserve: bigint | null
  /** Names of its extensions, in their order; empty in the classic program. */
  readonly extensions: readonly string[]
  /** Transfer fees withheld in the account, in base units; null without the extension. */
  readonly withheld: bigint | null
}

/** Reads a token account. Refuses an account of another program or kind, an uninitialized one, and broken extensions. */
export function readTokenAccount({
  owner: program,
  data
}: Pick<Account, 'owner' | 'data'>): TokenAccount | Refused {
  const tokenProgram = tokenProgramOf(program)
  if (tokenProgram === null) return refused('is owned by another program')
  if (data.length < ACCOUNT_BYTES || (tokenProgram === 'spl-token' && data.length !== ACCOUNT_BYTES))
    return refused('is no token account')
  const extensions = readExtensions(data, ACCOUNT_BYTES, 'account')
  if (isRefused(extensions)) return extensions
  const state = STATES[data[108]!]
  if (state === undefined || state === 'uninitialized') return refused('is no initialized token account')
  const delegate = taggedKey(data, 72)
  const closeAuthority = taggedKey(data, 129)
  if (isRefused(delegate)) return delegate
  if (isRefused(closeAuthority)) return closeAuthority
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const native = view.getUint32(109, true)
  if (native > 1) return refused(`has tag ${native} at byte 109`)
  const withheld = valueOf(extensions, 'transfer_fee_amount')
  return {
    kind: 'token-account',
    tokenProgram,
    mint: data.slice(0, 32),
    owner: data.slice(32, 64),
    amount: view.getBigUint64(64, true),
    state,
    delegate,
    delegatedAmount: view.getBigUint64(121, true),
    closeAuthority,
    nativeReserve: native === 1 ? view.getBigUint64(113, true) : null,
    extensions: extensions.map(({ name }) => name),
    withheld:
      withheld === null ? null : new DataView(withheld.buffer, withheld.byteOffset).getBigUint64(0, true)
  }
}

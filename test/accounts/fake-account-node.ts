import type { AccountServices } from '../../src/accounts/services.ts'
import type {
  Account,
  AccountNode,
  AddressedAccount,
  OffChainSource,
  ProgramAccountsQuery,
  TokenImageSource
} from '../../src/accounts/ports.ts'
import { MintDirectory } from '../../src/accounts/mint-directory.ts'
import { PoolDirectory } from '../../src/accounts/pools/pool-directory.ts'
import { pubkeyMapKey, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { NodeError, type NodeFault } from '../../src/node/node-fault.ts'

/** Where the owner of a token account stands. */
const TOKEN_OWNER_AT = 32

/** A node with the accounts that a test puts there. It answers at once, or when the test opens its gate. */
export class FakeAccountNode implements AccountNode {
  slot = 1_000
  /** The fault of every call; null if calls succeed. */
  fault: NodeFault | null = null
  /** Addresses of each call of `accounts`. */
  readonly asked: (readonly Pubkey[])[] = []
  /** Calls of `epochSchedule`. */
  schedules = 0
  /** Calls of any method. */
  calls = 0
  /** Answers wait for it. */
  gate: Promise<void> = Promise.resolve()
  readonly #accounts = new Map<string, AddressedAccount>()

  put(address: Pubkey, account: Pick<Account, 'owner' | 'data'> & Partial<Account>): void {
    const whole = { lamports: 1_000_000n, executable: false, rentEpoch: 2n ** 64n - 1n, ...account }
    this.#accounts.set(pubkeyMapKey(address), { address, account: whole })
  }

  remove(address: Pubkey): void {
    this.#accounts.delete(pubkeyMapKey(address))
  }

  async accounts(addresses: readonly Pubkey[], signal: AbortSignal): ReturnType<AccountNode['accounts']> {
    this.asked.push(addresses)
    return this.#answer(signal, () =>
      addresses.map((address) => this.#accounts.get(pubkeyMapKey(address))?.account ?? null)
    )
  }

  async epochSchedule(signal: AbortSignal): ReturnType<AccountNode['epochSchedule']> {
    this.schedules++
    await this.#answer(signal, () => null)
    return { slotsPerEpoch: 432_000, firstNormalEpoch: 0, firstNormalSlot: 0 }
  }

  async tokenAccounts(
    wallet: Pubkey,
    tokenProgram: Pubkey,
    signal: AbortSignal
  ): ReturnType<AccountNode['tokenAccounts']> {
    return this.#answer(signal, () =>
      this.#ownedBy(tokenProgram).filter(
        ({ account: { data } }) =>
          data.length >= TOKEN_OWNER_AT + 32 &&
          samePubkey(data.subarray(TOKEN_OWNER_AT, TOKEN_OWNER_AT + 32), wallet)
      )
    )
  }

  async programAccounts(
    program: Pubkey,
    { dataSize, memcmp = [], dataSlice }: ProgramAccountsQuery,
    signal: AbortSignal
  ): ReturnType<AccountNode['programAccounts']> {
    return this.#answer(signal, () =>
      this.#ownedBy(program)
        .filter(({ account: { data } }) => dataSize === undefined || data.length === dataSize)
        .filter(({ account: { data } }) =>
          memcmp.every(({ offset, bytes }) => bytes.every((byte, at) => data[offset + at] === byte))
        )
        .map(({ address, account }) => ({
          address,
          account:
            dataSlice === undefined
              ? account
              : {
                  ...account,
                  data: account.data.slice(dataSlice.offset, dataSlice.offset + dataSlice.length)
                }
        }))
    )
  }

  #ownedBy(program: Pubkey): AddressedAccount[] {
    return [...this.#accounts.values()].filter(({ account: { owner } }) => samePubkey(owner, program))
  }

  async #answer<T>(
    signal: AbortSignal,
    accounts: () => T
  ): Promise<{ readonly slot: number; readonly accounts: T }> {
    this.calls++
    await this.gate
    signal.throwIfAborted()
    if (this.fault !== null) throw new NodeError('node', this.fault)
    return { slot: this.slot, accounts: accounts() }
  }
}

/** The services of the account side, over a node with the accounts that a test puts there. */
export interface FakeAccounts extends AccountServices {
  readonly node: FakeAccountNode
}

export function fakeAccounts(
  clock: Clock = systemPorts.clock,
  offChain: OffChainSource | null = null,
  images: TokenImageSource | null = null
): FakeAccounts {
  const node = new FakeAccountNode()
  const options = { node, clock, bytesMax: 2 ** 20 }
  return { node, mints: new MintDirectory(options), pools: new PoolDirectory(options), offChain, images }
}

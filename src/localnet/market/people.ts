import type { Pubkey } from '../../chain/pubkey.ts'
import { isOnCurve } from '../../signing/program-address.ts'
import { seededRandom } from './random.ts'

/** The market's wallets, which follow from the seed alone. */
export interface People {
  /** By habit: snipers, then bots, then whales, then all others. */
  readonly traders: readonly Pubkey[]
  readonly creators: readonly Pubkey[]
  /** Wallets that open pools and provide liquidity. */
  readonly makers: readonly Pubkey[]
  /** Wallets that trade pools back to a token's reference price. */
  readonly arbitrageurs: readonly Pubkey[]
  /** Wallet that migrates curves and maintains the lookup tables. */
  readonly operator: Pubkey
  readonly voters: readonly { readonly identity: Pubkey; readonly account: Pubkey }[]
}

const TRADERS = 240
const CREATORS = 40
const MAKERS = 6
const ARBITRAGEURS = 4
const VOTERS = 8

export function peopleOf(seed: string): People {
  const random = seededRandom(`${seed}/people`)
  const wallet = (): Pubkey => {
    for (;;) {
      const address = random.bytes(32)
      if (isOnCurve(address)) return address
    }
  }
  const wallets = (count: number): Pubkey[] => Array.from({ length: count }, wallet)
  return {
    traders: wallets(TRADERS),
    creators: wallets(CREATORS),
    makers: wallets(MAKERS),
    arbitrageurs: wallets(ARBITRAGEURS),
    operator: wallet(),
    voters: Array.from({ length: VOTERS }, () => ({ identity: wallet(), account: wallet() }))
  }
}

/** Tells whether a wallet keeps an account of wrapped SOL; others wrap the amount of a trade and unwrap the rest. */
export function keepsWrapped(wallet: Pubkey): boolean {
  return (wallet[0]! & 1) === 0
}

import type { AccountServices } from '../../accounts/services.ts'
import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_DECIMALS, NATIVE_MINT } from '../../chain/token-accounts.ts'

/** Maximum mints whose decimals are read, in 20 requests; further mints have decimals only if cached. */
const MINTS_MAX = 1_000

/** Returns the decimals of mints by their map key, if the mint is cached or can be read within the limit. */
export async function decimalsOf(
  mints: readonly Pubkey[],
  { mints: directory }: Pick<AccountServices, 'mints'>,
  limitMs: number
): Promise<Map<string, number>> {
  const found = new Map([[pubkeyMapKey(NATIVE_MINT), NATIVE_DECIMALS]])
  /** Returns the mints that are not cached. */
  const take = (asked: readonly Pubkey[]): Pubkey[] =>
    asked.filter((mint) => {
      const reading = directory.peek(mint)?.reading
      if (reading?.kind === 'facts') found.set(pubkeyMapKey(mint), reading.account.decimals)
      return reading === undefined && !found.has(pubkeyMapKey(mint))
    })
  const unknown = take(mints).slice(0, MINTS_MAX)
  if (unknown.length === 0) return found
  // Decimals never change, so a reading of any age suffices. If the read fails, they are missing.
  await directory.read(unknown, limitMs).catch(() => undefined)
  take(unknown)
  return found
}

import { z } from 'zod'
import { distinctPubkeys, pubkeyFromBase58, type Pubkey } from '../../chain/pubkey.ts'

/**
 * Up to `max` addresses in a query, separated by commas. Reads them in the order given, each once. More addresses are
 * refused. A malformed address is refused with `invalid_address` and its index.
 */
export function addressList(max: number) {
  return z
    .string()
    .transform((text, context): readonly Pubkey[] => {
      const texts = text.split(',')
      if (texts.length > max) {
        context.addIssue(`must be at most ${max} addresses; these are ${texts.length}`)
        return z.NEVER
      }
      const keys: Pubkey[] = []
      for (const [at, each] of texts.entries()) {
        const key = pubkeyOrNull(each)
        if (key === null) {
          const message = `must be base58 addresses of 32 bytes, separated by commas; the text at index ${at} is not an address`
          context.addIssue({ code: 'custom', message, params: { address: true } })
          return z.NEVER
        }
        keys.push(key)
      }
      return distinctPubkeys(keys)
    })
    .meta({ type: 'string' })
}

function pubkeyOrNull(text: string): Pubkey | null {
  try {
    return pubkeyFromBase58(text)
  } catch {
    return null
  }
}

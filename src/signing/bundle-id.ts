import { createHash } from 'node:crypto'

/** Maximum transactions of a bundle (src/docs/bundles.md). */
export const BUNDLE_SIZE_MAX = 5

/**
 * Returns the id of a bundle: SHA-256 of its transactions' first signatures in base58, in order and joined by commas,
 * in hexadecimal. The block engine and its SDKs derive it likewise (jito-solana, `derive_bundle_id`). So the id is
 * known before a request to the engine.
 */
export function bundleIdOf(signatures: readonly string[]): string {
  return createHash('sha256').update(signatures.join(',')).digest('hex')
}

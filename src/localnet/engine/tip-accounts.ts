import { pubkeyFromBase58 } from '../../chain/pubkey.ts'

/**
 * The tip accounts of the block engine on mainnet (its documentation, `getTipAccounts`; they have never changed), so that
 * clients with a fixed list work on the localnet too.
 */
export const TIP_ACCOUNTS: readonly string[] = [
  '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5',
  'HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe',
  'Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY',
  'ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49',
  'DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh',
  'ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt',
  'DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL',
  '3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT'
]

/** The tip accounts as raw keys. */
export const TIP_ACCOUNT_KEYS: readonly Uint8Array[] = TIP_ACCOUNTS.map(pubkeyFromBase58)

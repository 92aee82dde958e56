import { flag, url, type Setting } from '../setting.ts'

/** Settings of accounts. */
export const ACCOUNT_SETTINGS = {
  tokenImages: {
    schema: flag,
    fallback: 'false',
    meaning: 'whether the JSON behind the URIs of mints is fetched, for image, description and links'
  },
  ipfsGateway: {
    schema: url('http:', 'https:'),
    fallback: 'https://ipfs.io',
    meaning: 'URL of the gateway that `ipfs:` URIs of mints are fetched by'
  }
} satisfies Record<string, Setting>

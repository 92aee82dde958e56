import { flag, url, type Settings, type Values } from '../kernel/config/setting.ts'

/** Settings of accounts. */
export const ACCOUNT_SETTINGS = {
  tokenImages: {
    schema: flag,
    fallback: 'false',
    meaning:
      'whether to fetch the JSON at the URIs of mints, for image, description and links, and the images themselves'
  },
  ipfsGateway: {
    schema: url('http:', 'https:'),
    fallback: 'https://ipfs.io',
    meaning: 'URL of the gateway through which `ipfs:` URIs of mints and images are fetched'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof ACCOUNT_SETTINGS> {}
}

import { flag, type Settings, type Values } from '../kernel/config/setting.ts'

/** Settings of the Data API. */
export const DATA_SETTINGS = {
  indexHolder: {
    schema: flag,
    fallback: 'true',
    meaning:
      'whether a gateway of a cluster may hold the names and rankings of all tokens; `false`: it always asks gateways that hold them'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof DATA_SETTINGS> {}
}

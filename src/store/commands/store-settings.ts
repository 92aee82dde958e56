import type { SettingName } from '../../kernel/config/config.ts'

/** Settings of the store's location. */
export const STORE = [
  'dataDir',
  'storage',
  'scyllaContactPoints',
  'scyllaPort',
  'scyllaDatacenter',
  'scyllaKeyspace',
  'scyllaUsername',
  'scyllaPassword'
] as const satisfies readonly SettingName[]

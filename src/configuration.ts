import { configurationOf } from './kernel/config/config.ts'
import { loadSettings } from './kernel/product-row.ts'
import { PRODUCT_ROWS } from './products.ts'

/** The settings of all products, and the functions that read and print them. */
export const CONFIGURATION = configurationOf(await loadSettings(PRODUCT_ROWS))

export const {
  settings: SETTINGS,
  names: SETTING_NAMES,
  settingFlags,
  readConfig,
  configOf,
  isDefault,
  maskedConfig,
  configMask
} = CONFIGURATION

import { Store } from './store.ts'

const KEY_ITEM = 'millrace.key'
const THEME_ITEM = 'millrace.theme'

/** The API key of this tab; empty if no key is set. It is stored in sessionStorage, which ends with the tab. */
export const apiKey = new Store(sessionStorage.getItem(KEY_ITEM) ?? '')
apiKey.subscribe(() => {
  if (apiKey.value === '') sessionStorage.removeItem(KEY_ITEM)
  else sessionStorage.setItem(KEY_ITEM, apiKey.value)
})

/** Reason why the service refuses the key of this tab; null while it accepts it. */
export const keyRefusal = new Store<string | null>(null)
apiKey.subscribe(() => keyRefusal.set(null))

export type Theme = 'system' | 'light' | 'dark'
const isTheme = (text: string | null): text is Theme =>
  text === 'light' || text === 'dark' || text === 'system'

const storedTheme = localStorage.getItem(THEME_ITEM)
/** The chosen colors; `system` follows the preference of the browser. */
export const theme = new Store<Theme>(isTheme(storedTheme) ? storedTheme : 'system')

const systemDark = matchMedia('(prefers-color-scheme: dark)')
/** Whether the page is dark now. */
export const isDark = new Store(false)

function applyTheme(): void {
  const { value } = theme
  localStorage.setItem(THEME_ITEM, value)
  if (value === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = value
  isDark.set(value === 'system' ? systemDark.matches : value === 'dark')
}
theme.subscribe(applyTheme)
systemDark.addEventListener('change', applyTheme)
applyTheme()

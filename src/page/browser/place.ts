import { Store } from './store.ts'

/** A view and its arguments, as the fragment of the URL states them: `#/token/MINT?interval=1m`. */
export interface Place {
  readonly view: string
  readonly argument: string
  readonly options: URLSearchParams
}

/** Reads a place. The fragment holds it, so that the page works below any path of a proxy. */
export function placeOf(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?')
  const [view = '', ...rest] = path.split('/')
  return {
    view: view === '' ? 'market' : view,
    argument: decoded(rest.join('/')),
    options: new URLSearchParams(query)
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the link to a view. */
export function linkTo(view: string, argument = '', options: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(options).toString()
  const path = argument === '' ? view : `${view}/${encodeURIComponent(argument)}`
  return `#/${path}${query === '' ? '' : `?${query}`}`
}

export const place = new Store(placeOf(location.hash))
addEventListener('hashchange', () => place.set(placeOf(location.hash)))

/** Changes options of the current place without a new entry in the history. */
export function setOptions(changes: Readonly<Record<string, string>>): void {
  const { view, argument, options } = place.value
  const all = { ...Object.fromEntries(options), ...changes }
  history.replaceState(null, '', linkTo(view, argument, all))
  place.set(placeOf(location.hash))
}

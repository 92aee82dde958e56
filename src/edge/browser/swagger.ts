/** The parts of Swagger UI that the explorer uses. Its package has no types, and React is inside its bundle. */

export interface Shown {
  readonly type: unknown
  readonly props: unknown
}

export type Child = Shown | string | number | boolean | null | undefined | readonly Child[]

export type View<Props> = (props: Props) => Shown | null

/** A component of the library, whose properties are its own. */
export type LibraryView = View<Readonly<Record<string, unknown>>>

export interface React {
  readonly Fragment: LibraryView
  readonly createElement: <Props extends object>(
    type: string | View<Props>,
    props: Props | null,
    ...children: readonly Child[]
  ) => Shown
  readonly useState: <T>(initial: T) => readonly [T, (value: T) => void]
  readonly useEffect: (effect: () => (() => void) | undefined, on: readonly unknown[]) => void
  readonly useMemo: <T>(make: () => T, on: readonly unknown[]) => T
  readonly useSyncExternalStore: <T>(subscribe: (listener: () => void) => () => void, read: () => T) => T
}

/** An immutable map of the library. */
export interface ImmutableMap {
  readonly size: number
  get(name: string): unknown
  getIn(path: readonly string[]): unknown
  toJS(): unknown
  toObject(): Readonly<Record<string, unknown>>
  keySeq(): { join(separator: string): string }
  entrySeq(): { map<T>(each: (entry: readonly [string, ImmutableMap]) => T): Iterable<T> }
  filter(test: (entry: ImmutableMap) => boolean): ImmutableMap
  filterNot(test: (entry: ImmutableMap) => boolean): ImmutableMap
  hasIn?(path: readonly string[]): boolean
}

export interface System {
  readonly React: React
}

/** Properties that the library gives to components of its containers. */
export interface Container {
  /** Returns a component; the library calls a component that reads its state a container. */
  readonly getComponent: <Component = LibraryView>(name: string, isContainer?: boolean) => Component
  readonly specSelectors: {
    info(): { get(name: 'title' | 'version' | 'description'): string | undefined }
    specJson(): ImmutableMap
  }
  readonly specActions: {
    changeParamByIdentity(pathMethod: unknown, parameter: ImmutableMap, value: string | null): void
  }
  readonly authActions: { authorize(keys: object): void; logout(names: readonly string[]): void }
  readonly authSelectors: { authorized(): { readonly size: number } }
  readonly layoutActions: { updateFilter(text: string): void }
  readonly layoutSelectors: { currentFilter(): unknown }
}

/** Adds components to the library, or wraps its own. */
export type Plugin = (system: System) => {
  readonly components?: Readonly<Record<string, unknown>>
  readonly wrapComponents?: Readonly<Record<string, unknown>>
}

export interface SwaggerOptions {
  readonly spec: object
  readonly dom_id: string
  readonly plugins: readonly Plugin[]
  readonly [option: string]: unknown
}

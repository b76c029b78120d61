export function BoardPage(_: { id: string; scope: string; period: string }) {
  return <div class="page" />;
}

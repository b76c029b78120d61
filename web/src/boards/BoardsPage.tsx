export function BoardsPage() {
  return <div class="page" />;
}

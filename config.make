
# nginx's makefile turns the pages into C text whenever one is edited.

cat << END                                                    >> $NGX_MAKEFILE

$NGX_OBJS/ngx_http_flash_throttle_pages.h:	$ngx_addon_dir/scripts/page.sh \\
	$ngx_addon_dir/conf/pages/closed.html \\
	$ngx_addon_dir/conf/pages/queue.html \\
	$ngx_addon_dir/conf/pages/rejected.html \\
	$ngx_addon_dir/conf/pages/sold_out.html
	sh $ngx_addon_dir/scripts/page.sh \\
		$ngx_addon_dir/conf/pages/closed.html \\
		$ngx_addon_dir/conf/pages/queue.html \\
		$ngx_addon_dir/conf/pages/rejected.html \\
		$ngx_addon_dir/conf/pages/sold_out.html \\
		> \$@.new
	mv \$@.new \$@

END

cat << END                                                    >> $NGX_MAKEFILE

$NGX_OBJS/ngx_http_flash_throttle_dashboard.h:	$ngx_addon_dir/scripts/page.sh \\
	$ngx_addon_dir/conf/dashboard/dashboard.html
	sh $ngx_addon_dir/scripts/page.sh \\
		$ngx_addon_dir/conf/dashboard/dashboard.html \\
		> \$@.new
	mv \$@.new \$@

END
